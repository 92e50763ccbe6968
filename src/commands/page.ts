import { registry } from '../kinds/index.ts';
import type { ApplyResult } from '../model/result/outcome.ts';
import type { PlanFlags } from './flags.ts';
import type { Planned } from './planning.ts';

/** A plan with what it was made from, as far as that is known. */
type Drawn = Pick<Planned, 'plan'> & Partial<Pick<Planned, 'live' | 'desired' | 'base'>>;

/** Makes a page of a plan, and of what became of it where it was carried out. */
export type PageMaker = (made: Drawn, result?: ApplyResult) => { readonly html?: () => string };

/** Prepares pages; what makes them is loaded only where one is asked for. */
export async function pageMaker({ report }: Pick<PlanFlags, 'report'>): Promise<PageMaker> {
  if (!report.some(({ format }) => format === 'html')) return () => ({});
  const [{ planHtml }, { buildProtectionMatrix: pictureOf }] = await Promise.all([
    import('../report/html/page.ts'),
    import('../protection/protection-matrix.ts'),
  ]);
  return ({ plan, live, desired, base }, result) => ({
    html: () => {
      const picture = live === undefined ? [] : pictureOf(plan, live, registry, { desired, base: base?.desired });
      return planHtml([{ plan, picture, ...(result === undefined ? {} : { result }) }]);
    },
  });
}
