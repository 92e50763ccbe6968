import { type Json, textsIn } from '../../model/json.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import { accessControlId, type AccessMode } from '../../model/protection/access-objects.ts';
import type { Decider } from '../../model/protection/permission.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { attachingAttributes, decidesAccess, runbookRulesOf } from '../access/deciding-kinds.ts';
import { reviewFor, stepOf } from '../access/effective-access.ts';
import type { TermPart } from '../access/terms.ts';
import { typeFields } from '../controls/enforcement.ts';
import { everywhereIn, type ProtectionSnapshot } from '../posture/protection-snapshot.ts';
import type { Effective } from './effective.ts';

/** The access control of the gateway as such: the first row that a plan writes switches it on. */
export const accessControl: Decider = { id: accessControlId, path: '' };

const askedFields = ['approval_required_groups', 'skip_review_groups'];
const approvingFields = ['reviewers_groups', 'min_approvals', 'all_groups_must_approve', 'force_approval_groups'];
const ownApprovalFields = ['reviewers', 'min_review_approvals', 'force_approve_groups'];

/** Lists what decides a part of the terms of people in exactly some groups: fields, elements of lists, whole objects and edges. */
export function decidersOf(
  value: Effective,
  part: TermPart,
  { member, verb }: { readonly member: readonly string[]; readonly verb: AccessMode },
): readonly Decider[] {
  const { id, state, access, facts } = value;
  const elements = (of: ResourceId, names: readonly string[]): readonly Decider[] =>
    member.length === 0
      ? fieldDeciders(of, names)
      : names.flatMap((name) => member.map((group) => ({ id: of, path: pointer(name, group) })));
  switch (part) {
    case 'sees':
      return [
        ...elements(id, ['access_groups']),
        ...facts.attributes.flatMap((attribute): readonly Decider[] => [
          ...elements(attribute, ['access_groups']),
          { id: attribute, path: '' },
          { id, path: pointer('attributes', nameOf(attribute)) },
        ]),
        accessControl,
      ];
    case 'open':
      return fieldDeciders(id, [`access_mode_${verb}`, ...(verb === 'connect' ? [] : typeFields)]);
    case 'runs':
    case 'files': {
      const own = access.runbooks ?? [];
      // A rule for others allows nothing, but closes by its existence.
      const isForOthers = (groups: readonly string[]): boolean => groups.length > 0 && groups.every((group) => !member.includes(group));
      const deciding = own.flatMap(({ key: rule, groups }) => [
        ...elements(rule, ['user_groups']),
        ...(isForOthers(groups) ? [{ id: rule, path: '' } as const] : [...fieldDeciders(rule, ['runbooks']), ...attaching(value, rule)]),
      ]);
      // The first rule of a gateway closes what it does not name.
      return own.length > 0 ? deciding : runbookRulesOf({ resources: state.resources, fixed: [] }).map((one) => ({ id: one, path: '' }));
    }
    case 'approval':
    case 'longest': {
      const step = stepOf(verb);
      const isLimit = part === 'longest';
      const own = fieldDeciders(id, isLimit ? ['access_max_duration'] : ownApprovalFields);
      const rule = access.rules[step];
      if (rule === undefined) return own;
      const ruling = rule.key;
      // The reviewers of the connection decide only for those whom no rule asks.
      const isAsked = reviewFor(access, member, step).rule !== undefined;
      // Whether a connection has reviewers of its own decides how many approvals of a rule a credential counts.
      const isCountedByOwn = !isLimit && step === 'jit' && rule.credential_approvals !== undefined;
      const terms = isAsked || isLimit ? fieldDeciders(ruling, isLimit ? ['access_max_duration'] : approvingFields) : [];
      return [
        ...elements(ruling, askedFields),
        ...fieldDeciders(ruling, ['access_type']),
        ...attaching(value, ruling),
        ...terms,
        ...(isAsked && !isCountedByOwn ? [] : own),
      ];
    }
    case 'until':
      return member.flatMap((group) => value.grants().get(group) ?? []);
    case 'analyzer':
      return verb === 'connect' ? fieldDeciders(id, typeFields) : [];
  }
}

function fieldDeciders(id: ResourceId, names: readonly string[]): readonly Decider[] {
  return names.map((name) => ({ id, path: pointer(name) }));
}

/** Lists what attaches a rule to a connection: its existence, an edge, and an attribute of both. */
export function attaching({ id, state, facts }: Effective, rule: ResourceId): readonly Decider[] {
  const names = new Set(facts.attributes.map(nameOf));
  const shared = attachingAttributes(rule, state.resources.get(rule)?.spec).filter((one) => names.has(one));
  return [
    { id: rule, path: '', edge: id },
    { id: rule, path: '' },
    ...shared.flatMap((name) => [id, rule].map((one): Decider => ({ id: one, path: pointer('attributes', name) }))),
  ];
}

/** Lists of groups of which an empty one stands for everybody. */
const everybodyIfEmpty = ['approval_required_groups', 'user_groups'];

/** Returns what a decider says in a state: of an element whether the list has it, and until when, of an object or an edge whether it exists, of a field its value. */
export function valueOf(state: ProtectionSnapshot, { id, path, edge }: Decider): Json {
  if (id === accessControl.id) return state.listed.isControlled;
  if (edge !== undefined) return state.edges.get(edge)?.has(id) === true || (decidesAccess(kindOf(id)) && everywhereIn(state).has(id));
  const spec = state.resources.get(id)?.spec;
  if (path === '') return spec !== undefined;
  const [field = '', element] = tokensOf(path);
  // No list of an object that does not exist has an element, as one that exists without it.
  if (spec === undefined && element !== undefined) return false;
  const value = spec?.[field] ?? null;
  if (element === undefined || !Array.isArray(value)) return value;
  if (textsIn(value).includes(element)) return state.ends?.get(id)?.get(path)?.until ?? true;
  return everybodyIfEmpty.includes(field) && value.length === 0;
}

/** Returns the deciders of one connection as those of another: its own fields and its edges. The same one is translated once. */
export function decidersFor(
  connection: ResourceId,
  by: readonly Decider[],
  of: ResourceId,
  known: Map<Decider, Decider> = new Map(),
): readonly Decider[] {
  if (connection === of) return by;
  const own = (id: ResourceId): ResourceId => (id === of ? connection : id);
  return by.map((one) => {
    if (one.id !== of && one.edge !== of) return one;
    const found = known.get(one) ?? { ...one, id: own(one.id), edge: one.edge && own(one.edge) };
    known.set(one, found);
    return found;
  });
}
