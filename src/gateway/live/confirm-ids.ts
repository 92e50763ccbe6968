import { isObject } from '../../model/json.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import type { HttpResponse } from '../http/client.ts';
import type { GatewayContext } from '../session.ts';

/** Reads each object alone and returns the ids of those that exist. */
export async function confirmIds(context: GatewayContext, ids: readonly ResourceId[]): Promise<readonly ResourceId[]> {
  const found: ResourceId[] = [];
  for (const id of ids) {
    const { wireKind } = await context.bindingFor(kindOf(id));
    if (wireKind.detailIsList === true) continue;
    const path = wireKind.detailPath({ uid: nameOf(id), name: nameOf(id) });
    const read = (): Promise<HttpResponse> => context.client.send({ method: 'GET', path, accept: [404] });
    const first = await read();
    // No list can prove that the object is absent, so a second answer has to confirm the first.
    const { status, body } = first.status === 404 ? await read() : first;
    if (status !== 404 && isObject(body) && wireKind.uidOf(body) === nameOf(id)) found.push(id);
  }
  return found;
}
