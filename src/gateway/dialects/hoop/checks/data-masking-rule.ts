import type { Diagnostic } from '../../../../model/diagnostic.ts';
import { asArray, asObject, asText, isObject, type Json, objectsIn, type JsonObject } from '../../../../model/json.ts';
import { pointer } from '../../../../model/pointer.ts';
import { diagnosticAt, type ProposedWrite } from '../../rest.ts';
import type { LicenseLimit } from './connection.ts';

// The PEM blocks that Go's ssh package reads.
const privateKey = /^-----BEGIN (?:RSA |EC |DSA |OPENSSH )?PRIVATE KEY-----\r?\n[^]+\r?\n-----END [A-Z ]*PRIVATE KEY-----/m;

/** Reports what the gateway rejects of a runbook configuration, or loses. */
export function checkRunbookConfiguration(write: ProposedWrite): readonly Diagnostic[] {
  const isLive = write.stored['git_url'] !== undefined;
  return [...(isLive ? [lostBranch(write), ...checkHost(write)] : []), ...checkPrivateKey(write)];
}

/** Reports a host that differs only in case: the gateway would look for another repository, and find none. */
function checkHost(write: ProposedWrite): readonly Diagnostic[] {
  const [desired, stored] = [hostOf(write.spec['git_url']), hostOf(write.stored['git_url'])];
  if (desired === stored || desired.toLowerCase() !== stored.toLowerCase()) return [];
  const message = `the gateway stores the repository with the host ${stored} and treats ${desired} as another repository`;
  return [
    diagnosticAt(write, '/git_url', {
      code: 'hoop/git-host',
      message,
      hint: `use ${stored}, or delete the repository on the gateway so that apply creates it again`,
    }),
  ];
}

function hostOf(url: Json | undefined): string {
  if (typeof url !== 'string') return '';
  return /^(?:[\w.-]+@([\w.-]+):|[a-z]+:\/\/(?:[^/@]*@)?([^/:?#]+))/i.exec(url)?.slice(1).join('') ?? '';
}

function lostBranch(write: ProposedWrite): Diagnostic {
  return diagnosticAt(write, '/git_url', {
    code: 'hoop/git-branch',
    severity: 'warning',
    message: 'the update removes the git branch that is set for this repository on the gateway',
    hint: 'the API neither shows nor accepts it; the gateway then reads its default branch, master or main',
  });
}

/** Reports a private key that the gateway would reject: it parses the key when it is written. */
function checkPrivateKey(write: ProposedWrite): readonly Diagnostic[] {
  const key = write.resource.secrets['/ssh_key'];
  if (key?.state !== 'value' || key.source === 'live') return [];
  const value = key.reveal();
  if (value === '' || privateKey.test(value)) return [];
  return [
    diagnosticAt(write, '/ssh_key', {
      code: 'hoop/ssh-key',
      message: `${key.source} is not a private key in PEM format, and the gateway rejects it`,
      hint: 'a key begins with -----BEGIN OPENSSH PRIVATE KEY----- (or RSA, EC) on its own line',
    }),
  ];
}

const maxDescriptionLength = 512;

/** Reports what the gateway rejects of a masking rule, whatever the state of the gateway. */
export function checkMaskingRule(write: ProposedWrite): readonly Diagnostic[] {
  const { spec } = write;
  const description = spec['description'];
  return [
    ...(typeof description === 'string' && Array.from(description).length > maxDescriptionLength ? [tooLong(write)] : []),
    ...asArray(spec['supported_entity_types']).flatMap((entry) => checkSupportedEntity(write, entry)),
    ...asArray(spec['custom_entity_types']).flatMap((entry) => checkEntityName(write, '/custom_entity_types', entry)),
  ];
}

function checkSupportedEntity(write: ProposedWrite, entry: Json): readonly Diagnostic[] {
  const types = isObject(entry) ? asArray(entry['entity_types']) : [];
  const wrong = types.filter((type) => typeof type !== 'string' || !/^[A-Z0-9_]+$/.test(type));
  return [
    ...checkEntityName(write, '/supported_entity_types', entry),
    ...wrong.map((type) =>
      diagnosticAt(write, pointer('supported_entity_types', asText(asObject(entry)['name']), 'entity_types', asText(type)), {
        code: 'hoop/entity-type',
        message: `the entity type ${JSON.stringify(type)} may contain only capital letters, digits and _`,
        hint: 'the gateway rejects it; example: EMAIL_ADDRESS',
      }),
    ),
  ];
}

function checkEntityName(write: ProposedWrite, at: string, entry: Json): readonly Diagnostic[] {
  const name = isObject(entry) ? entry['name'] : undefined;
  if (typeof name !== 'string' || name === name.toUpperCase()) return [];
  const message = `the name "${name}" must be in capital letters`;
  return [
    diagnosticAt(write, `${at}${pointer(name, 'name')}`, {
      code: 'hoop/entity-type',
      message,
      hint: `the gateway rejects it; use ${name.toUpperCase()}`,
    }),
  ];
}

function tooLong(write: ProposedWrite): Diagnostic {
  const message = `the description is longer than ${maxDescriptionLength} characters`;
  return diagnosticAt(write, '/description', { code: 'hoop/too-long', message, hint: 'the gateway cannot store more' });
}

/** Lists what the free license does not allow of a masking rule. */
export function limitMaskingRule({ spec }: ProposedWrite): readonly LicenseLimit[] {
  const supported = objectsIn(spec['supported_entity_types']);
  const custom = objectsIn(spec['custom_entity_types']);
  const types = supported.reduce((count: number, entry) => count + entryCount(entry, 'entity_types'), 0);
  const hasRegexAndDenyList = custom.some((entry) => entryCount(entry, 'deny_list') > 0 && (entry['regex'] ?? '') !== '');
  const hasLongDenyList = custom.some((entry) => entryCount(entry, 'deny_list') > 1);
  const limits: readonly (readonly [isExceeded: boolean, field: string, message: string])[] = [
    [supported.length > 0 && custom.length > 0, 'custom', 'supported_entity_types or custom_entity_types, not both'],
    [supported.length > 1 || types > 1, 'supported', `one supported entity type, but there are ${types}`],
    [custom.length > 1, 'custom', `one custom entity type, but there are ${custom.length}`],
    [hasLongDenyList, 'custom', 'one entry in a deny_list'],
    [hasRegexAndDenyList, 'custom', 'a regex or a deny_list, not both'],
  ];
  return limits
    .filter(([isExceeded]) => isExceeded)
    .map(([, field, message]) => ({ at: `/${field}_entity_types`, message: `the free license allows ${message}` }));
}

function entryCount(entry: JsonObject, field: string): number {
  return asArray(entry[field]).length;
}

const sides = ['input', 'output'] as const;

/** Reports patterns that RE2 does not know: the gateway stores any pattern, and fails to run such a one. */
export function checkGuardrailRule(write: ProposedWrite): readonly Diagnostic[] {
  return sides.flatMap((side) =>
    entriesOf(write, side).flatMap(({ pattern_regex: pattern }) => {
      if (typeof pattern !== 'string' || !/\(\?(?:[=!]|<[=!])/.test(pattern.replaceAll(/\\./gs, ''))) return [];
      const message = `the pattern ${JSON.stringify(pattern)} uses look-around, which RE2 does not support`;
      const hint = 'the gateway would store but never enforce it; rewrite it';
      return [diagnosticAt(write, `/${side}`, { code: 'hoop/pattern', message, hint })];
    }),
  );
}

/** Lists what the free license does not allow of a guardrail rule. */
export function limitGuardrailRule(write: ProposedWrite): readonly LicenseLimit[] {
  return sides.flatMap((side) => {
    const { length } = entriesOf(write, side);
    const message = `the free license allows one entry of ${side} rules, but there are ${length}`;
    return length > 1 ? [{ at: `/${side}`, message }] : [];
  });
}

function entriesOf({ spec }: ProposedWrite, side: (typeof sides)[number]): readonly JsonObject[] {
  return objectsIn(asObject(spec[side])['rules']);
}
