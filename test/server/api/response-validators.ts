import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { isObject, type Json, type JsonObject } from '../../../src/model/json.ts';
import { pointer } from '../../../src/model/pointer.ts';

/** A received response of an operation. */
type ReceivedResponse = { readonly place: string; readonly status: number; readonly headers: Headers; readonly text: string };

/** Compares requests and responses with the document. */
export type DocumentValidators = {
  readonly problemsOf: (received: ReceivedResponse) => readonly string[];
  /** Returns whether the document allows the body of a request. */
  readonly allows: (place: string, body: Json) => boolean;
};

/** Compiles the schemas of requests and responses on demand. */
export function validatorsOf(document: JsonObject): DocumentValidators {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ ...document, $id: 'document' });
  const compiled = new Map<string, ValidateFunction>();
  const validatorOf = (reference: string): ValidateFunction => {
    const validate = compiled.get(reference) ?? ajv.compile({ $ref: reference });
    compiled.set(reference, validate);
    return validate;
  };
  return {
    allows: (place, body) => validatorOf(`document#${place}/requestBody/content${pointer('application/json')}/schema`)(body),
    problemsOf({ place, status, headers, text }) {
      const answer = resolve(document, `#${place}/responses/${status}`);
      if (answer.schema['description'] === undefined) return ['the document does not know the status'];
      const content = isObject(answer.schema['content']) ? answer.schema['content'] : {};
      const [media] = Object.keys(content);
      if (media === undefined) return text === '' ? [] : ['there is a body'];
      if (headers.get('Content-Type')?.toLowerCase() !== media.toLowerCase()) return [`the body is ${headers.get('Content-Type')}`];
      if (!media.endsWith('json')) return [];
      const reference = `document${answer.place}/content${pointer(media)}/schema`;
      const validate = validatorOf(reference);
      return validate(JSON.parse(text)) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
    },
  };
}

function resolve(document: JsonObject, place: string): { readonly place: string; readonly schema: JsonObject } {
  let node: Json = document;
  for (const token of place.slice(2).split('/')) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    node = isObject(node) ? (node[key] ?? null) : null;
  }
  if (isObject(node) && typeof node['$ref'] === 'string') return resolve(document, node['$ref']);
  return { place, schema: isObject(node) ? node : {} };
}
