import { dayNumber } from '../../model/day.ts';
import { type Diagnostic, suggest } from '../../model/diagnostic.ts';
import type { Policy, Waiver } from '../../model/protection/policy.ts';
import { matchesGlob } from './match.ts';

/** A waiver is reported this many days before it ends. */
const noticeDays = 14;

/** Returns the first valid waiver of a policy for a connection. */
export function waiverFor({ waivers }: Policy, name: string, today: string): Waiver | undefined {
  return waivers.find(({ connection, until }) => until >= today && matchesGlob(connection, name));
}

/** Reports waivers: an ended one has the severity of its policy; one that ends soon or matches no connection is a warning. */
export function waiverDiagnostics(policies: readonly Policy[], names: readonly string[], today: string): readonly Diagnostic[] {
  return policies.flatMap(({ name, severity, waivers }) =>
    waivers.flatMap((waiver): readonly Diagnostic[] => {
      const { connection, until, at } = waiver;
      const whose = `the waiver of "${name}" for ${connection}`;
      if (until < today) {
        const hint = 'satisfy the policy or extend the waiver, then remove the expired waiver';
        return [{ code: 'policy/waiver-ended', severity, message: `${whose} ended on ${until} (today is ${today})`, hint, at }];
      }
      const left = dayNumber(until) - dayNumber(today);
      const soon: readonly Diagnostic[] =
        left > noticeDays
          ? []
          : [
              {
                code: 'policy/waiver-ending',
                severity: 'warning',
                message: `${whose} ends ${whenText(left)} (${until})`,
                hint: 'after that date, the plan is refused',
                at,
              },
            ];
      return [...soon, ...unused(waiver, whose, names)];
    }),
  );
}

function whenText(left: number): string {
  return left === 0 ? 'today' : `in ${left} day${left === 1 ? '' : 's'}`;
}

function unused({ connection, at }: Waiver, whose: string, names: readonly string[]): readonly Diagnostic[] {
  if (names.some((name) => matchesGlob(connection, name))) return [];
  const near = suggest(connection, names);
  const hint = near === undefined ? 'remove it' : `did you mean "${near}"?`;
  return [{ code: 'policy/waiver-unused', severity: 'warning', message: `${whose}: unknown connection`, hint, at }];
}
