import { ApiError } from '../../model/errors.ts';
import type { WireList } from '../dialect.ts';
import type { GatewayContext } from '../context.ts';

/** Fetches a list, or a page of it; where there is none the answer is null if that is how the gateway says that it is empty. */
export async function fetchList(link: Pick<GatewayContext, 'client' | 'url'>, list: WireList, path: string): Promise<unknown> {
  const { status, body } = await link.client.send({ method: 'GET', path, accept: [404] });
  if (status !== 404) return body;
  if (list.isEmpty?.(body) === true) return null;
  throw new ApiError('the gateway has no such list (404)', {
    code: 'api/not-a-gateway',
    method: 'GET',
    url: `${link.url}${path}`,
    status,
    retryable: false,
    ambiguous: false,
    hint: `is ${link.url} the root of the gateway’s API? It may need a path such as /api`,
  });
}
