import { Body, BindError } from './body.ts';
import { ok, param, type Call, type Reply } from './call.ts';
import { badEnum, badUuid, foreignKey, isUuid, ModelError } from './errors.ts';
import { parseGoJson } from './go-json.ts';
import { isList, isObject } from './json.ts';
import { requireProvider } from './maskings.ts';

const prefix = 'failed updating data masking rule connection: ';

type Wanted = { readonly ruleId: string; readonly status: string };

/** `PUT /connections/:nameOrID/datamasking-rules`: replaces all masking links of one connection; an empty list cannot. */
export function replaceMaskings(call: Call): Reply {
  const { store, context } = call;
  const wanted = readWanted(call.text);
  if (wanted.length > 0) requireProvider(call);
  const connection = store.findConnection(param(call, 'nameOrID'));
  if (connection === undefined) throw new ModelError(404, 'connection not found');
  if (wanted.length === 0) throw new ModelError(500, `${prefix}failed creating data masking rule connection: empty slice found`);
  for (const { ruleId, status } of wanted) {
    if (!isUuid(ruleId)) throw new ModelError(500, `${prefix}${badUuid(ruleId)}`);
    if (status !== 'active' && status !== 'inactive') throw new ModelError(500, `${prefix}${badEnum('enum_datamasking_status', status)}`);
    if (!store.maskings.has(ruleId)) throw new ModelError(500, `${prefix}${foreignKey}`);
  }
  for (const rule of store.maskingLinks.leftsOf(connection.id)) store.unlinkMasking(rule, connection.id);
  const links = wanted.map(({ ruleId, status }) => ({ id: context.random.uuid(), ruleId, connectionId: connection.id, status }));
  for (const link of links) store.linkMasking(link);
  return ok(links.map((link) => ({ id: link.id, rule_id: link.ruleId, connection_id: link.connectionId, status: link.status })));
}

function readWanted(text: string): readonly Wanted[] {
  const value = parseGoJson(text);
  if (value === null) return [];
  if (!isList(value)) throw new BindError('json: cannot unmarshal object into Go value of type []openapi.DataMaskingRuleConnectionRequest');
  return value.map((item) => {
    const body = new Body('DataMaskingRuleConnectionRequest', isObject(item) ? item : {});
    return { ruleId: body.string('rule_id'), status: body.string('status') };
  });
}
