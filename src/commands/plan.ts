import { isWritten } from '../model/plan.ts';
import type { PlanFlags } from './flags.ts';
import { planned } from './planning.ts';
import { printerFor } from './printer.ts';
import { requireWritable, tellPlan } from './tell.ts';
import type { World } from './world.ts';

/** Shows what apply would do. Exit 0, or 2 with changes if asked, or 6 for what apply would refuse; managed objects do not count. */
export async function plan(flags: PlanFlags & { readonly detailedExitcode: boolean }, world: World): Promise<number> {
  requireWritable(flags.report, world);
  const { plan: result, warnings, gateway } = await planned(flags, world);
  await gateway.close();
  tellPlan([result], warnings, { flags, world, printer: printerFor(world, flags) });
  if (result.refusals.length > 0) return 6;
  return flags.detailedExitcode && result.changes.some(isWritten) ? 2 : 0;
}
