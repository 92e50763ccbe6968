import { readBody, type Body } from './body.ts';
import { isUuid, ModelError } from './errors.ts';
import type { Json } from './json.ts';
import type { MaskingRow } from './rows.ts';

/** A masking rule as a request describes it. */
export type MaskingBody = Pick<MaskingRow, 'name' | 'description' | 'supported' | 'custom' | 'score'> & {
  readonly connections: readonly string[] | null;
  readonly attributes: readonly string[] | null;
};

type Supported = { readonly name: string; readonly types: readonly string[] };
type Custom = { readonly name: string; readonly regex: string; readonly denyList: readonly string[] | null; readonly score: number };

/** Reads and checks the body of a masking rule (400); the returned `check` enforces the free license (403) later. */
export function readMasking(text: string): { readonly body: MaskingBody; readonly checkFree: () => void } {
  const body = readBody(text, 'DataMaskingRuleRequest');
  const supported = (body.structs('supported_entity_types', 'SupportedEntityTypesEntry') ?? []).map(readSupported);
  const custom = (body.structs('custom_entity_types', 'CustomEntityTypesEntry') ?? []).map(readCustom);
  const connections = body.strings('connection_ids');
  const result: MaskingBody = {
    name: body.string('name'),
    description: body.string('description'),
    supported: supported.map(({ name, types }): Json => ({ name, entity_types: types })),
    custom: custom.map(({ name, regex, denyList, score }): Json => ({ name, regex, deny_list: denyList, score })),
    score: body.float('score_threshold'),
    connections,
    attributes: body.strings('attributes'),
  };
  checkMoment(body);
  body.require({ Name: result.name });
  const broken = connections?.find((id) => !isUuid(id));
  if (broken !== undefined) throw new ModelError(400, `invalid connection ID ${broken}`);
  if (result.score !== null && (result.score < 0 || result.score > 1)) throw new ModelError(400, 'score threshold must be between 0 and 1');
  for (const entry of supported) checkSupported(entry);
  for (const entry of custom) checkCustom(entry);
  return { body: result, checkFree: () => checkFree(supported, custom) };
}

function readSupported(body: Body): Supported {
  return { name: body.string('name'), types: body.strings('entity_types') ?? [] };
}

function readCustom(body: Body): Custom {
  return {
    name: body.string('name'),
    regex: body.string('regex'),
    denyList: body.strings('deny_list'),
    score: body.float('score') ?? 0,
  };
}

function checkMoment(body: Body): void {
  const moment = body.text('updated_at');
  if (moment !== null && (!/^\d{4}-\d\d-\d\dT/.test(moment) || Number.isNaN(Date.parse(moment))))
    throw new ModelError(400, `parsing time "${moment}" as "2006-01-02T15:04:05Z07:00": cannot parse "${moment}" as "2006"`);
}

function checkSupported({ name, types }: Supported): void {
  if (name === '' || types.length === 0) throw new ModelError(400, 'missing entity types or name in supported entity types');
  checkUpper(name);
  const broken = types.find((type) => !/^[A-Z0-9_]+$/.test(type));
  if (broken !== undefined)
    throw new ModelError(400, `entity type must contain only uppercase letters, digits, or underscores: "${broken}"`);
}

function checkCustom({ name, regex, denyList }: Custom): void {
  if (name === '' || (regex === '' && (denyList ?? []).length === 0))
    throw new ModelError(400, 'missing name, deny_list or regex in custom entity types');
  checkUpper(name);
}

function checkUpper(name: string): void {
  if (name !== name.toUpperCase()) throw new ModelError(400, `entity type name must be uppercase: ${name}`);
}

function checkFree(supported: readonly Supported[], custom: readonly Custom[]): void {
  const limits: readonly (readonly [boolean, string])[] = [
    [supported.length > 0 && custom.length > 0, 'supported entity types and custom entity types cannot be both defined in OSS version'],
    [supported.length > 1, 'supported entity types are limited to 1 rule in OSS version'],
    [supported.some(({ types }) => types.length > 1), 'supported entity types are limited to 1 entity type in OSS version'],
    [custom.length > 1, 'custom entity types are limited to 1 rule in OSS version'],
    [custom.some(({ denyList }) => (denyList ?? []).length > 1), 'custom entity types deny list is limited to 1 entry in OSS version'],
    [
      custom.some(({ regex, denyList }) => regex !== '' && (denyList ?? []).length > 0),
      'custom entity types cannot have both regex and deny list in OSS version',
    ],
  ];
  const broken = limits.find(([over]) => over);
  if (broken !== undefined) throw new ModelError(403, broken[1]);
}
