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

/** Every verb. */
export const verbs: readonly Verb[] = ['connect', 'exec', 'runbooks'];

/** Lists what is new, tried over everything: each person, verb, runbook and set of approvers. */
export function newAccess({ before, after, predecessors }: Compared): readonly Gain[] {
  return Object.keys(after.connections).flatMap((name): readonly Gain[] => {
    const former = before.connections[name] === undefined ? predecessors[name] : name;
    const was = former === undefined || before.connections[former] === undefined ? undefined : former;
    const counted = people.filter(({ groups }) => was !== undefined || !groups.some((group) => ['admin', 'auditor'].includes(group)));
    const found = verbs.flatMap((verb) =>
      counted
        .filter((subject) => isGained({ before, after, was, name }, subject, verb))
        .map(({ groups }): Gain => ({ connection: name, verb, groups })),
    );
    const machines = after.machines.filter((machine) => {
      const subject = { groups: [], machine };
      return termsAt(after, subject, name, 'connect') !== undefined && (was === undefined || !reaches(before, subject, was));
    });
    return [...found, ...machines.map((): Gain => ({ connection: name, verb: 'connect' }))];
  });
}

type Sides = Pick<Compared, 'before' | 'after'> & { readonly was: string | undefined; readonly name: string };

function isGained({ before, after, was, name }: Sides, subject: Subject, verb: Verb): boolean {
  const has = termsAt(after, subject, name, verb);
  if (has === undefined) return false;
  const had = was === undefined ? undefined : termsAt(before, subject, was, verb);
  if (had === undefined || was === undefined || isEasier(has, had) || (verb === 'connect' && has.longest > had.longest)) return true;
  if (verb === 'connect') return false;
  if (riskLevels.some((level) => isEasier(analyzerTerms(after, name, level), analyzerTerms(before, was, level)))) return true;
  return (
    verb === 'runbooks' && filesIn(after).some((file) => mayRunFile(after, subject, name, file) && !mayRunFile(before, subject, was, file))
  );
}

/** Lists every file that a rule distinguishes, and one that none names. */
export function filesIn({ runbookRules }: AccessState): readonly RunbookFile[] {
  const stated = runbookRules.flatMap(({ files }) => files.map(({ repository, name }) => ({ repository, name: `${name}zz` })));
  return [...accessPools.files, ...stated, { repository: 'git.example.com/none', name: 'zz' }];
}

/** Returns what a person needs for a verb; undefined if it is impossible. */
export function termsAt(state: AccessState, subject: Subject, name: string, verb: Verb): Terms | undefined {
  if (!reaches(state, subject, name) || !mayAsk(state, subject, name, verb)) return undefined;
  if (verb === 'runbooks' && !filesIn(state).some((file) => mayRunFile(state, subject, name, file))) return undefined;
  const terms = termsOf(state, subject, name, verb);
  return terms.refused ? undefined : terms;
}

/** Lists connections with verbs, each once. */
export function verbsOf(list: readonly { readonly connection: string; readonly verb?: string | undefined }[]): readonly string[] {
  return [...new Set(list.map(({ connection, verb }) => `${connection} ${verb}`))].toSorted();
}
