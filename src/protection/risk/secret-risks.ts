import type { DesiredResource } from '../../model/desired.ts';
import { equal } from '../../model/json.ts';
import type { LiveResource } from '../../model/live.ts';
import type { Change, FieldChange } from '../../model/plan/plan.ts';
import { isPointerWithin, pointer, tokensOf } from '../../model/pointer.ts';
import type { ResourceId } from '../../model/resource.ts';
import { looksLikeCredential, type LiveSecret } from '../../model/secret.ts';
import type { RiskDraft } from './field-risks.ts';
import type { RiskName } from './risk-codes.ts';

/** Where a kept credential would go, by the field that says so. */
const routes: Readonly<Record<string, RiskName>> = {
  agent_id: 'agent-rerouted',
  command: 'command-rerouted',
  type: 'command-rerouted',
  subtype: 'command-rerouted',
  resource_name: 'resource-rerouted',
};

const secretField = 'secret';

/** Settings that are no credential by themselves, and say where or how a connection is made. */
const setting =
  /(^|[:_])(host|hostname|port|url|uri|addr|address|endpoint|server|socket|db|database|dbname|sid|service|service_name|schema|table|index|region|zone|bucket|path|sslmode|ssl|tls|insecure|options|ca)$/i;

/** Who somebody is leads nowhere. */
const identity = /(^|[:_])(user|username|login|account|role)$/i;

/** Whose secrets they are: the live connection's own, or those of the one whose place it takes. */
type Owners = {
  readonly live: ReadonlyMap<ResourceId, LiveResource>;
  readonly subject: LiveResource | undefined;
  readonly desired: DesiredResource | undefined;
};

/** What a connection's secrets are before and after a change, and where they would go. */
export function rerouteRisks(change: Change, { live, subject, desired }: Owners): readonly RiskDraft[] {
  const written = change.fields.filter(({ held }) => held !== true);
  const former = subject ?? predecessorOf(written, live);
  if (former === undefined || !keepsCredential(written, former, subject === undefined)) return resourceRisks(written, subject);
  const fields = written.flatMap((field): readonly RiskDraft[] => {
    const [name = '', key] = tokensOf(field.path);
    if (name === secretField && key !== undefined)
      return isEndpoint(key) && !isSame(field, desired, former) ? [{ name: 'endpoint-rerouted', fields: [name] }] : [];
    const route = routes[name];
    if (route === undefined || (subject === undefined && sameAs(field, former))) return [];
    return [{ name: route, fields: [name] }];
  });
  return mergeDrafts(fields);
}

/** A connection inherits the secrets of its resource, whatever it has of its own. */
function resourceRisks(written: readonly FieldChange[], subject: LiveResource | undefined): readonly RiskDraft[] {
  const moves = subject !== undefined && written.some(({ path }) => path === pointer('resource_name'));
  return moves ? [{ name: 'resource-rerouted', fields: ['resource_name'] }] : [];
}

/** What takes another one's place has its secrets; their source says whose they are. */
function predecessorOf(written: readonly FieldChange[], live: ReadonlyMap<ResourceId, LiveResource>): LiveResource | undefined {
  for (const { after } of written) {
    const [area, kind, ...name] = 'secret' in after ? after.secret.split(/[:/]/) : [];
    if (area === 'live' && kind !== undefined) return live.get(`${kind}/${name.join('/')}`);
  }
  return undefined;
}

function isCopied({ after }: FieldChange): boolean {
  return 'secret' in after && after.secret.startsWith('live:');
}

/** A copy, or the same value again. */
function isSame(field: FieldChange, desired: DesiredResource | undefined, former: LiveResource): boolean {
  const [now, then] = [desired?.secrets[field.path], former.secrets[field.path]];
  return isCopied(field) || (now?.state === 'value' && then?.state === 'value' && now.equals(then));
}

function sameAs({ path, after }: FieldChange, { spec }: LiveResource): boolean {
  const value = spec[tokensOf(path)[0] ?? ''];
  return value !== undefined && 'value' in after && equal(after.value, value);
}

/** Anything that is no mere setting may be a credential, and so may what cannot be seen. */
function keepsCredential(written: readonly FieldChange[], former: LiveResource, isCopy: boolean): boolean {
  const root = pointer(secretField);
  if (!isCopy && former.unknown.some((path) => path === root)) return true;
  const replaced = new Set(written.filter((field) => !(isCopy && isCopied(field))).map(({ path }) => path));
  const kept = isCopy ? written.filter(isCopied).map(({ path }) => path) : [...Object.keys(former.secrets), ...former.unknown];
  return kept.some((path) => isPointerWithin(path, root) && path !== root && isCredential(tokensOf(path)[1] ?? '') && !replaced.has(path));
}

function isCredential(key: string): boolean {
  return !setting.test(key) && !identity.test(key);
}

/** What is neither a setting that is known nor surely a credential may lead elsewhere, too. */
function isEndpoint(key: string): boolean {
  return !identity.test(key) && !looksLikeCredential(key);
}

/** Secrets that stood elsewhere, by the base or else by what is live, and stand in the manifest now; or the other way round. */
export function sourceRisks(
  desired: DesiredResource,
  { base, live }: { readonly base: DesiredResource | undefined; readonly live: LiveResource | undefined },
): readonly RiskDraft[] {
  const drafts = Object.entries(desired.secrets).flatMap(([path, { source }]): readonly RiskDraft[] => {
    const before = base === undefined ? liveForm(live?.secrets[path]) : formOf(base.secrets[path]?.source);
    const after = formOf(source);
    if (before === undefined || after === undefined || before === after) return [];
    return [{ name: after === 'inline' ? 'secret-inlined' : 'secret-referenced', fields: tokensOf(path) }];
  });
  return drafts;
}

type Form = 'inline' | 'elsewhere';

function formOf(source: string | undefined): Form | undefined {
  if (source === 'inline') return 'inline';
  return source !== undefined && /^(env|file|reference):/.test(source) ? 'elsewhere' : undefined;
}

/** Of a live value only a reference tells where it stood. */
function liveForm(secret: LiveSecret | undefined): Form | undefined {
  return secret?.state === 'value' && /^_\w+:/.test(secret.reveal()) ? 'elsewhere' : undefined;
}

function mergeDrafts(drafts: readonly RiskDraft[]): readonly RiskDraft[] {
  const known = new Map<RiskName, RiskDraft>();
  for (const draft of drafts) {
    const earlier = known.get(draft.name);
    known.set(draft.name, earlier === undefined ? draft : { ...earlier, fields: [...new Set([...earlier.fields, ...draft.fields])] });
  }
  return [...known.values()];
}
