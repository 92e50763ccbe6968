import { appliedRefName } from '../git/applied-refs.ts';
import type { Repository } from '../git/repository.ts';

/** Returns the branch whose pull request adopts the drift of a target; it contains the folder of the config file, and the label. */
export function adoptionBranch({ prefix }: Pick<Repository, 'prefix'>, target: string, label = ''): string {
  const place = [prefix, label].filter((part) => part !== '').join('/');
  return `ostiary/adopt/${appliedRefName(place, target)}`;
}
