import { createHash } from 'node:crypto';
import { sortedKeys, type Json } from '../../model/json.ts';
import type { FieldRule } from '../../model/kind.ts';
import type { LiveResource } from '../../model/live.ts';
import { isPointerWithin, pointer, tokensOf, type Pointer } from '../../model/pointer.ts';
import type { PulledSecrets } from '../../model/result/outcome.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { decodeBase64, type LiveSecret } from '../../model/secret.ts';
import { isToolList, toolText } from '../../model/spec/tool-lists.ts';

/** An environment variable that a drafted manifest reads a secret from. */
export type SecretVariable = { readonly name: string; readonly id: ResourceId; readonly path: Pointer };

/** Writes secrets and records the variables that it named. */
export type SecretWriter = {
  /** Returns the value of a secret field in the manifest of that id; undefined if the manifest omits the field. */
  readonly write: (id: ResourceId, live: LiveResource, field: FieldRule) => Json | undefined;
  readonly variables: readonly SecretVariable[];
  readonly countSecrets: () => { readonly kept: number; readonly stubs: number; readonly unseen: number };
};

export type SecretWriterOptions = {
  readonly form: PulledSecrets;
  /** The prefix of the variables' names. */
  readonly prefix: string;
  /** Names that other secrets use. */
  readonly taken: ReadonlySet<string>;
  readonly referencePrefixes: readonly string[];
};

const keep = { keep: true };

/** Creates a writer of secrets in one form. It writes no values but those of lists of tools, which are settings; only references, which name the place of a value. */
export function createSecretWriter({ form, prefix, taken, referencePrefixes }: SecretWriterOptions): SecretWriter {
  const used = new Set(taken);
  const open: SecretVariable[] = [];
  let kept = 0;
  let unseen = 0;

  function writeSecret(id: ResourceId, path: Pointer, secret: LiveSecret): Json {
    const text = isToolList(path) ? toolText(secret) : undefined;
    if (text !== undefined) return { value: text };
    if (form === 'stubs' && secret.state === 'value') {
      const value = secret.reveal();
      if (isReference(path, value, referencePrefixes)) return value;
      if (fitsVariable(tokensOf(path).length > 1 ? decodeBase64(value) : value)) return { valueFrom: { env: addVariable(id, path) } };
    }
    kept += 1;
    return keep;
  }

  function addVariable(id: ResourceId, path: Pointer): string {
    const plain = `${prefix}${toVariableName(nameOf(id))}_${toVariableName((tokensOf(path).at(-1) ?? '').replace(/^\w+:/, ''))}`;
    const hash = createHash('sha256').update(`${id} ${path}`).digest('hex').toUpperCase();
    const name = [plain, `${plain}_${hash.slice(0, 6)}`].find((one) => !used.has(one)) ?? `${plain}_${hash}`;
    used.add(name);
    open.push({ name, id, path });
    return name;
  }

  return {
    variables: open,
    countSecrets: () => ({ kept, stubs: open.length, unseen }),
    write(id, live, field) {
      if (form === 'omit') return undefined;
      const at = pointer(field.name);
      if (live.unknown.includes(at)) unseen += 1;
      const found: (readonly [Pointer, LiveSecret])[] = [];
      for (const path of sortedKeys(live.secrets)) {
        const secret = live.secrets[path];
        if (secret !== undefined && isPointerWithin(path, at)) found.push([path, secret]);
      }
      if (field.secret === 'plain') return found[0] === undefined ? undefined : writeSecret(id, at, found[0][1]);
      // An empty map is stated: an omitted one would be kept, also after a change by hand.
      if (found.length === 0) return [...live.unknown, ...(live.leftOut ?? [])].includes(at) ? undefined : {};
      return Object.fromEntries(found.map(([path, secret]) => [tokensOf(path)[1] ?? '', writeSecret(id, path, secret)]));
    },
  };
}

/** Returns whether a value is a complete reference at a place where the gateway resolves references. */
function isReference(path: Pointer, value: string, prefixes: readonly string[]): boolean {
  const prefix = prefixes.find((one) => value.startsWith(one));
  const isVariable = tokensOf(path)[1]?.startsWith('envvar:') === true;
  return prefix !== undefined && isVariable && /^[^:\s]+(:[^:\s]+)+$/.test(value.slice(prefix.length));
}

/** Returns whether an environment variable can hold the text: it is not empty and contains no zero byte. */
function fitsVariable(text: string | undefined): boolean {
  return text !== undefined && text !== '' && !text.includes('\0');
}

function toVariableName(text: string): string {
  const name = text
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return name === '' ? 'X' : name.slice(0, 100);
}
