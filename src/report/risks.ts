import type { JsonObject } from '../model/json.ts';
import { highestRisk, riskClasses, type Risk, type RiskClass } from '../model/plan/risk.ts';
import type { Paint, Palette } from './text/terminal.ts';

/** Risks as the JSON value that the plan's schema describes. */
export function riskObject({ code, class: one, path, connections, place }: Risk): JsonObject {
  return {
    code,
    class: one,
    ...(path === undefined ? {} : { path }),
    ...(connections === undefined ? {} : { connections }),
    ...(place === undefined ? {} : { place }),
  };
}

/** `weakens (reviewer-removed), strengthens (word-added)`, the most dangerous first; nothing where all of it is neutral. */
export function risksText(risks: readonly Risk[] | undefined): string {
  return riskClasses
    .toReversed()
    .flatMap((one) => {
      const names = (risks ?? []).flatMap(({ code, class: other }) => (other === one ? [code.slice('risk/'.length)] : []));
      return one === 'neutral' || names.length === 0 ? [] : [`${one} (${[...new Set(names)].join(', ')})`];
    })
    .join(', ');
}

/** The color of the highest risk. */
export function riskPaint(risks: readonly Pick<Risk, 'class'>[] | undefined, color: Palette): Paint {
  return classPaint(highestRisk(risks ?? []), color);
}

/** The color of a class. */
export function classPaint(one: RiskClass | undefined, { dim, green, red, yellow }: Palette): Paint {
  if (one === 'weakens') return red;
  if (one === 'strengthens') return green;
  return one === undefined || one === 'neutral' ? dim : yellow;
}
