import { fieldName } from '../../model/spec/spelling.ts';
import { type DocumentDiagnostic, suggest, documentError, didYouMean } from '../../model/diagnostic.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import { tokensOf } from '../../model/pointer.ts';
import { describeType, quoteValue, readValueAt } from '../json-values.ts';
import type { ManifestDocument } from '../yaml/parse-documents.ts';
import type { KindView } from '../manifest.ts';
import { describeSchemaErrors } from './schema-diagnostics.ts';
import { findNode, isOpenMap, readAnnotation } from '../schema-nodes.ts';
import { describeInvalidSecret, isValidSecret } from '../secrets/read-secret.ts';
import { accessTestKind } from '../../model/protection/access-test.ts';
import { policyKind } from '../../model/protection/policy.ts';
import { manifests, type SchemaError } from './validators.ts';

/** The class of a document: a manifest of a kind, a policy, an access test, defaults, the config file, a document of another tool, or an error. */
export type DocumentClass =
  | { readonly is: 'manifest'; readonly view: KindView; readonly value: JsonObject }
  | { readonly is: 'foreign'; readonly apiVersion: string | undefined }
  | { readonly is: 'config' }
  | { readonly is: 'policy' }
  | { readonly is: 'access-test' }
  | { readonly is: 'defaults' }
  | { readonly is: 'wrong'; readonly problem: DocumentDiagnostic };

export type KindViews = ReadonlyMap<string, KindView>;

/** The kind of defaults files. */
export const defaultsKind = 'Defaults';

/** The kinds of documents among manifests that declare no object. */
const otherKinds: readonly string[] = [policyKind, accessTestKind, defaultsKind];

const version = 'ostiary/v1';

/** Classifies a document by its apiVersion and kind. */
export function classifyDocument(document: ManifestDocument, views: KindViews): DocumentClass {
  const { value } = document;
  if (!isObject(value)) {
    return wrong(
      'manifest/not-a-map',
      '',
      `the document is ${describeType(value)}, not a map`,
      'a manifest begins with apiVersion: ostiary/v1',
    );
  }
  const { apiVersion, kind } = value;
  if (apiVersion === version) return classifyKind(kind, value, views);
  const hasOurForm =
    typeof kind === 'string' &&
    (views.has(kind) || kind === 'Config' || otherKinds.includes(kind)) &&
    (isObject(value['spec'] ?? value['targets']) || Array.isArray(value['spec']));
  if (apiVersion === undefined) {
    if (!hasOurForm) return { is: 'foreign', apiVersion };
    return wrong('manifest/missing-field', '', `missing required field "apiVersion" in the ${kind}`, `add apiVersion: ${version}`);
  }
  if (!isOurVersion(apiVersion, hasOurForm))
    return { is: 'foreign', apiVersion: typeof apiVersion === 'string' ? apiVersion : quoteValue(apiVersion) };
  return wrong('manifest/unsupported-version', '/apiVersion', `unknown version ${quoteValue(apiVersion)}`, `write apiVersion: ${version}`);
}

/** Returns whether a version means one of ours. A version of no group, such as `v1`, has none of our kinds: skipping the document would remove its object. */
function isOurVersion(apiVersion: Json, hasOurForm: boolean): boolean {
  if (hasOurForm && !(typeof apiVersion === 'string' && apiVersion.includes('/'))) return true;
  return (
    typeof apiVersion === 'string' && (apiVersion.toLowerCase().startsWith('ostiary/') || suggest(apiVersion, [version]) !== undefined)
  );
}

function classifyKind(kind: Json | undefined, value: JsonObject, views: KindViews): DocumentClass {
  const view = typeof kind === 'string' ? views.get(kind) : undefined;
  if (view !== undefined) return { is: 'manifest', view, value };
  if (kind === 'Config') return { is: 'config' };
  if (kind === policyKind) return { is: 'policy' };
  if (kind === accessTestKind) return { is: 'access-test' };
  if (kind === defaultsKind) return { is: 'defaults' };
  const names = [...views.keys(), ...otherKinds];
  if (kind === undefined)
    return wrong('manifest/missing-field', '', 'missing required field "kind" in the document', `expected one of: ${names.join(', ')}`);
  const near = typeof kind === 'string' ? didYouMean(kind, names) : undefined;
  return wrong('manifest/unknown-kind', '/kind', `unknown kind ${quoteValue(kind)}`, near ?? `kinds: ${names.join(', ')}`);
}

function wrong(code: DocumentDiagnostic['code'], at: string, message: string, hint: string): DocumentClass {
  return { is: 'wrong', problem: documentError(code, at, message, hint) };
}

/** Validates a manifest against the schema of its kind. An overlay may omit fields that the manifest states. */
export function validateManifest(view: KindView, value: JsonObject, form: 'manifest' | 'overlay'): readonly DocumentDiagnostic[] {
  const check = manifests[view.kind.name];
  const wrongForms = checkSecretNotations(view, value['spec'], form);
  if (check === undefined || check(value)) return wrongForms;
  const errors = check.errors ?? [];
  const counting =
    form === 'manifest' ? errors : errors.filter((error) => !isFilledIn(view, value, error) && !isRemovedByOverlay(view, value, error));
  if (counting.length === 0) return wrongForms;
  return [...describeSchemaErrors(view.kind.schema, value, counting).map((one) => withOwnName(view, one)), ...wrongForms];
}

/** Returns the error about an unknown field with our name as the hint, where the field has the name that a gateway has for it. */
function withOwnName({ others }: KindView, problem: DocumentDiagnostic): DocumentDiagnostic {
  const [top, field = '', ...rest] = tokensOf(problem.pointer);
  const own = fieldName(others, field);
  const isGateways = problem.code === 'manifest/unknown-field' && top === 'spec' && rest.length === 0 && own !== field;
  return isGateways ? { ...problem, hint: `write ${own}; Ostiary translates it` } : problem;
}

const none: readonly DocumentDiagnostic[] = [];

/** Finds invalid secret notations, which the compiled schema does not check. */
function checkSecretNotations(view: KindView, spec: Json | undefined, form: 'manifest' | 'overlay'): readonly DocumentDiagnostic[] {
  if (view.secrets.length === 0 || !isObject(spec)) return none;
  const problems: DocumentDiagnostic[] = [];
  for (const { name, secret } of view.secrets) {
    const value = spec[name];
    if (value === undefined) continue;
    if (secret === 'plain') {
      if (!isValidSecret(value, secret)) problems.push(describeInvalidSecret(['spec', name], value, secret));
    } else if (isObject(value)) {
      for (const key in value) {
        if (value[key] === null && form === 'overlay') continue;
        if (!isValidSecret(value[key], secret)) problems.push(describeInvalidSecret(['spec', name, key], value[key], secret));
      }
    }
  }
  return problems;
}

/** Returns whether a field that an overlay omits may come from the manifest below it. */
function isFilledIn(view: KindView, value: JsonObject, error: SchemaError): boolean {
  if (error.keyword !== 'required') return false;
  const tokens = tokensOf(error.instancePath);
  if (tokens.length === 0) return error.params['missingProperty'] === 'spec';
  if (tokens[0] !== 'spec') return false;
  return tokens.every((_, index) => {
    const above = tokens.slice(0, index + 1);
    return isObject(readValueAt(value, above)) && readAnnotation(findNode(view.kind.schema, above), 'x-ostiary-secret') === undefined;
  });
}

/** Returns whether a null in an overlay removes a key of a map. */
function isRemovedByOverlay(view: KindView, value: JsonObject, error: SchemaError): boolean {
  const tokens = tokensOf(error.instancePath);
  if (error.keyword !== 'type' || tokens[0] !== 'spec' || readValueAt(value, tokens) !== null) return false;
  const above = tokens.slice(0, -1);
  const isPlain = above.every((_, index) => isObject(readValueAt(value, above.slice(0, index + 1))));
  return isPlain && isOpenMap(findNode(view.kind.schema, above));
}
