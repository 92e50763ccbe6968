import { deleteAccessRule } from './access-rules.ts';
import { deleteAttribute } from './attributes.ts';
import { readBody } from './body.ts';
import { ok, type Call, type Reply, type Route, type ModelContext } from './call.ts';
import { ModelError } from './errors.ts';
import type { JsonObject } from './json.ts';
import { deleteGuardrail } from './guardrails.ts';
import { deleteMasking } from './maskings.ts';
import { profiles, type Profile } from './profile-rules.ts';

export const organisationRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/orgs/hide-role-info',
    access: 'admin',
    answer: ({ context }) => ok({ hide_role_info: context.settings.hideRoleInfo }),
  },
  { method: 'PUT', path: '/orgs/hide-role-info', access: 'admin', answer: hideRoleInfo },
  { method: 'GET', path: '/orgs/protection-profile', access: 'admin', answer: ({ context }) => ok(profileView(context.settings.profile)) },
  { method: 'PUT', path: '/orgs/protection-profile', access: 'admin', answer: changeProfile },
];

function hideRoleInfo({ text, context }: Call): Reply {
  const body = readBody(text, 'OrgHideRoleInfoRequest');
  const hidden = body.bool('hide_role_info');
  if (body.raw('hide_role_info') === null)
    throw new ModelError(
      400,
      "Key: 'OrgHideRoleInfoRequest.HideRoleInfo' Error:Field validation for 'HideRoleInfo' failed on the 'required' tag",
    );
  context.settings.hideRoleInfo = hidden;
  return ok({ hide_role_info: hidden });
}

/** Turns a profile on or off: creates or deletes its rules and attribute; connections get the attribute once. */
function changeProfile({ text, context }: Call): Reply {
  const id = readBody(text, 'ProtectionProfileRequest').text('profile');
  const profile = profiles[id ?? ''];
  if (id !== null && profile === undefined) throw new ModelError(400, 'invalid protection profile');
  const before = context.settings.profile;
  const keeps = profile === undefined ? [] : [...profile.guardrails, ...profile.maskings, ...profile.accessRules].map(({ name }) => name);
  context.settings.profile = id;
  if (id === null || profile === undefined) {
    dropManaged(context, keeps, undefined);
    return ok({ profile: null, attribute_name: null });
  }
  const attribute = attributeOf(id);
  const tagged = before === null ? [...context.store.connections.keys()] : context.store.connectionAttributes.rightsOf(attributeOf(before));
  materialise(context, profile, attribute);
  if (before !== id) for (const connection of tagged) context.store.connectionAttributes.add(attribute, connection);
  dropManaged(context, keeps, attribute);
  return ok({ profile: id, attribute_name: attribute });
}

function profileView(profile: string | null): JsonObject {
  return { profile, attribute_name: profile === null ? null : attributeOf(profile) };
}

function attributeOf(profile: string): string {
  return `hoop_protection_profile-${profile.replaceAll('-', '_')}`;
}

function materialise(context: ModelContext, profile: Profile, attribute: string): void {
  const { store, random, clock } = context;
  const managed = (): { readonly id: string; readonly managedBy: string; readonly hidden: boolean; readonly updatedAt: bigint } => ({
    id: random.uuid(),
    managedBy: 'hoop',
    hidden: false,
    updatedAt: clock.now(),
  });
  const description = `Managed by Hoop. Applied by the ${profile.title} protection profile.`;
  if (!store.attributes.has(attribute)) {
    const { updatedAt: createdAt, ...rest } = managed();
    store.attributes.set(attribute, { ...rest, name: attribute, description, createdAt });
  }
  for (const seed of profile.guardrails) {
    const row = { ...managed(), ...seed };
    if (store.guardrailNamed(seed.name) === undefined) store.guardrails.set(row.id, { ...row, createdAt: row.updatedAt });
    store.guardrailAttributes.add(attribute, seed.name);
  }
  for (const seed of profile.maskings) {
    const row = { ...managed(), ...seed };
    if (store.maskingNamed(seed.name) === undefined) store.maskings.set(row.id, row);
    store.maskingAttributes.add(attribute, seed.name);
  }
  for (const seed of profile.accessRules) {
    const { hidden: _, ...row } = { ...managed(), ...seed };
    const groups = [context.settings.roles.admin];
    const fresh = {
      ...row,
      createdAt: row.updatedAt,
      connectionNames: [],
      approvalRequiredGroups: groups,
      allGroupsMustApprove: false,
      reviewersGroups: groups,
      forceApprovalGroups: groups,
      skipReviewGroups: null,
      minApprovals: 1,
    };
    if (!store.accessRules.has(seed.name)) store.accessRules.set(seed.name, fresh);
    store.accessRuleAttributes.add(attribute, seed.name);
  }
}

/** Deletes the managed rules that the new profile does not contain. */
function dropManaged({ store }: ModelContext, keeps: readonly string[], attribute: string | undefined): void {
  const gone = (row: { readonly managedBy: string | null; readonly name: string }): boolean =>
    row.managedBy === 'hoop' && !keeps.includes(row.name) && row.name !== attribute;
  for (const row of [...store.guardrails.values()].filter(gone)) deleteGuardrail({ store }, row);
  for (const row of [...store.maskings.values()].filter(gone)) deleteMasking({ store }, row);
  for (const row of [...store.accessRules.values()].filter(gone)) deleteAccessRule(store, row.name);
  for (const row of [...store.attributes.values()].filter(gone)) deleteAttribute(store, row.name);
}
