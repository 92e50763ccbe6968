import { compareAccess, type AccessGain } from './access-judgement.ts';
import { requests, type AccessState } from './access-model.ts';

function keyOf({ subject, request }: AccessGain): string {
  return `${request} by ${subject.machine?.name ?? subject.groups.join('+')}`;
}

/** Lists what people can do at a moment and could do neither before nor after. */
export function exposedAt(moment: AccessState, before: AccessState, after: AccessState): readonly string[] {
  return Object.keys(moment.connections).flatMap((name) => {
    const [first, last] = [before, after].map((state) =>
      compareAccess(state, moment, { name }).gains.map((gain) => [keyOf(gain), gain] as const),
    );
    const also = new Map(last);
    return (first ?? []).flatMap(([key, { by }]) => {
      const other = also.get(key);
      return other === undefined || key.startsWith(requests[3]) ? [] : [`${name}: ${key} for ${by.join(', ')} and ${other.by.join(', ')}`];
    });
  });
}
