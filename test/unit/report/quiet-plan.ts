import type { Plan } from '../../../src/model/plan/plan.ts';
import { samplePlan } from './sample-plan.ts';

/** Returns a plan without changes. */
export function quietPlan(): Plan {
  return {
    ...samplePlan(),
    changes: [],
    edges: [],
    unchanged: 46,
    orphans: [],
    unmanaged: [],
    unwatched: [],
    singleWrites: [],
    protection: { headlines: [], connections: [], losing: [] },
    refusals: [],
    allowed: [],
  };
}
