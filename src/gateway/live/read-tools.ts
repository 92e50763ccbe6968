import { runPool } from '../../model/concurrency.ts';
import type { LiveResource } from '../../model/live.ts';
import { hasTools, withTools } from '../../model/spec/tool-lists.ts';

/** How many connections to servers of tools are read at a time. */
const atATime = 8;

/** Adds the lists of tools that a list of connections leaves out, from a read of each connection that has them: they decide what people may do there. */
export async function readTools(
  resources: readonly LiveResource[],
  readOne: (live: LiveResource) => Promise<LiveResource | undefined>,
): Promise<readonly LiveResource[]> {
  const incomplete = resources.filter(({ leftOut, spec }) => leftOut !== undefined && hasTools(spec));
  if (incomplete.length === 0) return resources;
  const read = new Map<LiveResource, LiveResource>();
  await runPool(incomplete, atATime, async (one) => {
    const found = await readOne(one);
    if (found !== undefined) read.set(one, { ...one, spec: withTools(one.spec, found.secrets, found.unknown) });
  });
  return resources.map((one) => read.get(one) ?? one);
}
