import { analyzerTerms, mayAsk, mayRunFile, reaches, riskLevels, termsOf } from './access-model.ts';
import type { AccessState, Request, RunbookFile, Subject, Terms } from './access-model.ts';
import { accessPools } from './access-pools.ts';
import { isEasier } from './approvals.ts';
import { subsetsOf } from './universe.ts';

const people: readonly Subject[] = subsetsOf<string>(accessPools.groups).flatMap((groups) =>
  [groups, [...groups, 'admin'], [...groups, 'auditor']].map((own) => ({ groups: own })),
);

/** What people ask of a connection over the API of the gateway. */
export type Verb = Exclude<Request, 'credential'>;

/** A verb that people can use on a connection, or more easily than before; without groups, a machine identity can. */
export type Gain = { readonly connection: string; readonly verb: Verb; readonly groups?: readonly string[] };

/** Two states, with the name of the predecessor by the name of its successor. */
export type Compared = {
  readonly before: AccessState;
  readonly after: AccessState;
  readonly predecessors: Readonly<Record<string, string>>;
};

/** Lists what is new, tried over everything: each person, verb, runbook and set of approvers. */
export function newAccess(sides: Compared): readonly Gain[] {
  const { before, after, predecessors } = sides;
  return Object.keys(after.connections).flatMap((name): readonly Gain[] => {
    const former = before.connections[name] === undefined ? predecessors[name] : name;
    const was = former === undefined || before.connections[former] === undefined ? undefined : former;
    const counted = people.filter(({ groups }) => was !== undefined || !groups.some((group) => ['admin', 'auditor'].includes(group)));
    const asked: readonly Omit<Asked, 'was' | 'name'>[] = [
      { verb: 'connect', file: undefined },
      { verb: 'exec', file: undefined },
      ...allFiles(after).map((file) => ({ verb: 'runbooks' as const, file })),
    ];
    const found = counted.flatMap((subject) =>
      asked
        .filter((one) => gains(sides, subject, { was, name, ...one }))
        .map(({ verb }): Gain => ({ connection: name, verb, groups: subject.groups })),
    );
    const machines = after.machines.filter((machine) => {
      const subject = { groups: [], machine };
      return usable(after, subject, { name, verb: 'connect' }) !== undefined && (was === undefined || !reaches(before, subject, was));
    });
    return [...found, ...machines.map((): Gain => ({ connection: name, verb: 'connect' }))];
  });
}

/** Lists every file that a rule distinguishes, and one that none names. */
export function allFiles({ runbookRules }: AccessState): readonly RunbookFile[] {
  const stated = runbookRules.flatMap(({ files }) => files.map(({ repository, name }) => ({ repository, name: `${name}zz` })));
  return [...accessPools.files, ...stated, { repository: 'git.example.com/none', name: 'zz' }];
}

type Asked = { readonly was: string | undefined; readonly name: string; readonly verb: Verb; readonly file: RunbookFile | undefined };

function gains({ before, after }: Compared, subject: Subject, { was, name, ...asked }: Asked): boolean {
  const has = usable(after, subject, { name, ...asked });
  if (has === undefined) return false;
  const had = was === undefined ? undefined : usable(before, subject, { name: was, ...asked });
  if (had === undefined || was === undefined || isEasier(has, had) || (asked.verb === 'connect' && has.longest > had.longest)) return true;
  return (
    asked.verb !== 'connect' && riskLevels.some((level) => isEasier(analyzerTerms(after, name, level), analyzerTerms(before, was, level)))
  );
}

/** Returns what a person needs for a verb, and for a runbook where one is given; undefined if it is impossible. */
export function usable(
  state: AccessState,
  subject: Subject,
  { name, verb, file }: { readonly name: string; readonly verb: Verb; readonly file?: RunbookFile | undefined },
): Terms | undefined {
  if (!reaches(state, subject, name) || !mayAsk(state, subject, name, verb)) return undefined;
  if (file !== undefined && !mayRunFile(state, subject, name, file)) return undefined;
  const terms = termsOf(state, subject, name, verb);
  return terms.refused ? undefined : terms;
}
