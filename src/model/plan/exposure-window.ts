import type { ExposureWindow } from './plan.ts';
import { tokensOf, type Pointer } from '../pointer.ts';

const named = 3;

/** Describes an exposure window in one sentence. */
export function exposureWindowText({ from, lost, until, missing, connections }: ExposureWindow): string {
  const shown = connections.slice(0, named).join(', ');
  const more = connections.length > named ? ` and ${connections.length - named} more` : '';
  const [is, has] = connections.length === 1 ? ['is', 'has'] : ['are', 'have'];
  const taken = lost.length === 0 ? `${is} open` : `${has} lost ${pathsText(lost)}`;
  return `between the writes of ${from} and ${until}: ${shown}${more} ${taken} and ${has} not yet gained ${pathsText(missing)}`;
}

function pathsText(paths: readonly Pointer[]): string {
  return paths.map((path) => tokensOf(path).join('.')).join(', ');
}
