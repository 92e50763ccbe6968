import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { asText, isObject, type JsonObject, objectsIn, textsIn } from '../../src/model/json.ts';
import { accessModes, type AccessMode } from '../../src/model/protection/access-objects.ts';
import type { Permission } from '../../src/model/protection/permission.ts';
import { coversRunbook } from '../../src/protection/access/compare-terms.ts';
import { writeFiles } from '../e2e/project.ts';
import { governing, type AccessState } from '../model/access-model.ts';
import { accessPairs, type AccessPair } from '../model/access-pairs.ts';
import { accessPools } from '../model/access-pools.ts';
import { readAccessState } from '../model/access-state.ts';
import { readerOf, readLive, startAccessGateway } from '../model/run-access-pair.ts';
import { findAccess, type FoundAccess } from '../support/access-answers.ts';
import type { HoopModel } from '../support/hoop/start.ts';
import { openHoop, scenarioToken } from '../support/hoop-scenario.ts';
import { runCount, seedOfRound } from '../support/property-runs.ts';
import { runInFolder } from '../support/run-in-process.ts';
import { askCredential, askExec, askRunbook, callerOf, type LiveAnswer, type LiveCall, textOfAnswer } from './live.ts';

/** The groups of each user that tries; people in no group, in one, and in two. */
const people = [[], ['dev'], ['dba'], ['sre'], ['sec'], ['dev', 'dba'], ['sre', 'sec'], ['auditor'], ['admin']] as const;

/** How many gateways are tried. */
const drawn = 8;

/** Gateways in random states. What an analyzer finds cannot be known, and without a provider it fails every command. */
const states = fc
  .sample(accessPairs, { numRuns: runCount(drawn), ...seedOfRound(31) })
  .map((pair): AccessPair => ({ ...pair, objects: { ...pair.objects, analyzers: [] } }));

/** How often something was compared. */
type Counts = { triples: number; yes: number; no: number; reviewed: number; files: number; limits: number; decided: number };

test(`users of ${states.length} gateways in random states can do what ostiary can answers, and nothing else`, async () => {
  const counts: Counts = { triples: 0, yes: 0, no: 0, reviewed: 0, files: 0, limits: 0, decided: 0 };
  const differences: string[] = [];
  for (const [index, pair] of states.entries()) {
    const model = await startAccessGateway(pair);
    try {
      differences.push(...(await compare(model, pair, counts)).map((line) => `state ${index}: ${line}`));
    } finally {
      await model.close();
    }
  }
  process.stdout.write(`${JSON.stringify(counts)}\n`);
  expect(differences).toEqual([]);
  const { triples, yes, no, reviewed, files, limits, decided } = counts;
  const enough = [
    triples >= 50 * drawn,
    yes >= 10 * drawn,
    no >= 10 * drawn,
    reviewed >= 5 * drawn,
    files >= 50 * drawn,
    limits >= drawn,
    decided >= 2 * drawn,
  ];
  expect(enough.every(Boolean)).toBe(true);
}, 240_000);

/** Lets every user try everything on every connection, and returns the differences from what Ostiary answers. */
async function compare(model: HoopModel, pair: AccessPair, counts: Counts): Promise<readonly string[]> {
  const admin = callerOf({ url: model.url, key: scenarioToken });
  await addRunbooks(model, admin);
  const gateway = await openHoop(model);
  const find = findAccess(await readLive(gateway));
  await gateway.close();
  const matrix = await matrixOf(model);
  const state = await readAccessState(readerOf(model));
  const names = pair.live.map(({ metadata }) => metadata.name);
  const differences: string[] = [];
  for (const groups of people) {
    const ask = await signIn(model, admin, groups);
    const listed = new Set(objectsIn((await ask('GET', '/connections')).body).map(({ name }) => asText(name)));
    for (const name of names) {
      const found = find(name, groups);
      const differs = (what: string, is: unknown, expected: unknown): void => {
        if (is !== expected)
          differences.push(`${groups.join('+') || 'no group'} ${what} ${name}: ${String(is)}, expected ${String(expected)}`);
      };
      differs('lists', listed.has(name), found.sees);
      const tries: Tries = { model, ask, admin, name, groups, state, found, counts, differs };
      const answers = { exec: await tryExec(tries), runbooks: await tryRunbooks(tries), connect: await tryConnect(tries) };
      for (const verb of accessModes) {
        const is = answers[verb];
        if (is === undefined) continue;
        const can = found.can(verb);
        counts.triples += 1;
        counts[can.answer === 'yes' ? 'yes' : 'no'] += 1;
        if (can.approval !== undefined && can.answer === 'yes') counts.reviewed += 1;
        const text = textOfAnswer(is);
        differs(verb, text, can.answer === 'unknown' ? 'unknown' : textOfAnswer(answerOf(can)));
        // The command line answers for each group, and for people in none.
        const printed = groups.length > 1 || ['admin', 'auditor'].includes(groups[0] ?? '') ? undefined : matrix(name, groups[0], verb);
        if (printed !== undefined) differs(`${verb} by the command`, text, textOfAnswer(printed));
      }
    }
  }
  return differences;
}

type Tries = {
  readonly model: HoopModel;
  readonly ask: LiveCall;
  readonly admin: LiveCall;
  readonly name: string;
  readonly groups: readonly string[];
  readonly state: AccessState;
  readonly found: FoundAccess;
  readonly counts: Counts;
  readonly differs: (what: string, is: unknown, expected: unknown) => void;
};

/** Runs a command. The review that it waits for is approved by as many groups as Ostiary says, and not by fewer. Over HTTP auditors run none. */
async function tryExec({ model, ask, admin, name, groups, counts, differs }: Tries): Promise<LiveAnswer | undefined> {
  if (groups.includes('auditor')) return undefined;
  const answer = await askExec(ask, admin, name);
  const { approval } = answer;
  if (approval === undefined) return answer;
  const { body } = await ask('POST', '/sessions', { connection: name, script: 'select 2' });
  const session = isObject(body) ? asText(body['session_id']) : '';
  const statuses: string[] = [];
  for (const group of approval.reviewers.slice(0, approval.needed)) {
    const reviewer = callerOf({ url: model.url, key: `token-${group}` });
    const decided = (await reviewer('PUT', `/sessions/${session}/review`, { status: 'APPROVED' })).body;
    statuses.push(isObject(decided) ? asText(decided['status']) : '');
  }
  counts.decided += 1;
  differs('approvals', statuses.join(' '), [...Array.from({ length: approval.needed - 1 }, () => 'PENDING'), 'APPROVED'].join(' '));
  return answer;
}

/** Runs every runbook, and compares each: a person can use runbooks who can run one. */
async function tryRunbooks({ ask, admin, name, found, counts, differs }: Tries): Promise<LiveAnswer> {
  const can = found.can('runbooks');
  const answers: LiveAnswer[] = [];
  for (const file of accessPools.files) {
    const answer = await askRunbook(ask, admin, name, file);
    answers.push(answer);
    // What a pattern with wildcards includes is not compared file by file.
    const covered = found.runbooks.map((by) => coversRunbook(by, file));
    if (!covered.includes(true) && covered.includes(undefined)) continue;
    differs(`runs ${file.repository}:${file.name}`, answer.can, can.answer === 'yes' && covered.includes(true));
    counts.files += 1;
  }
  return answers.find((answer) => answer.can) ?? { can: false };
}

/**
 * Asks for a credential of a native client. It differs from native access where the connection has reviewers, or a rule asks only some
 * groups: there only whether a person may ask at all is the same. Auditors get no credential.
 */
async function tryConnect({ ask, admin, name, groups, state, found, counts, differs }: Tries): Promise<LiveAnswer | undefined> {
  if (groups.includes('auditor')) return undefined;
  const can = found.can('connect');
  const rule = governing(state, name, 'jit');
  const isAlike = state.connections[name]?.reviewers.length === 0 && (rule === undefined || rule.required.length === 0);
  const asked = async (seconds: number): Promise<number> =>
    (await ask('POST', `/connections/${name}/credentials`, { access_duration_seconds: seconds })).status;
  if (!isAlike) {
    const { status, body } = await ask('POST', `/connections/${name}/credentials`, { access_duration_seconds: 60 });
    const isRefused = status === 404 || (isObject(body) && /access mode connect is not enabled/.test(asText(body['message'])));
    differs('may ask for connect', !isRefused, can.answer === 'yes');
    return undefined;
  }
  if (can.answer === 'yes' && rule !== undefined) {
    const longest = Math.min(can.longest ?? Infinity, 172_800);
    differs(`connect for ${longest} s`, (await asked(longest)) < 300, true);
    differs(`connect for ${longest + 1} s`, await asked(longest + 1), 400);
    counts.limits += 1;
  }
  return askCredential(ask, admin, name);
}

function answerOf({ answer, approval }: Pick<Permission, 'answer' | 'approval'>): LiveAnswer {
  if (answer !== 'yes' || approval === 'refused') return { can: false };
  if (approval === undefined || approval === 'unknown') return { can: true };
  return { can: true, approval: { reviewers: approval.groups, needed: approval.needed, forcing: approval.force } };
}

/** Makes a user with some groups, and signs it in. */
async function signIn({ url }: HoopModel, admin: LiveCall, groups: readonly string[]): Promise<LiveCall> {
  const email = `${['user', ...groups].join('-')}@example.org`;
  const [password, status] = ['tries-everything', 'active'];
  expect((await admin('POST', '/users', { email, name: email, password, status, groups: [...groups] })).status).toBe(201);
  const { token } = await admin('POST', '/localauth/login', { email, password });
  return callerOf({ url, key: token ?? '' });
}

type Matrix = (connection: string, group: string | undefined, verb: AccessMode) => LiveAnswer;

/** Reads what `ostiary can --matrix --live` prints: what people in no group can do counts for a group that nothing names, too. */
async function matrixOf({ url }: HoopModel): Promise<Matrix> {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-tries-'));
  try {
    writeFiles(folder, { 'ostiary.yaml': `apiVersion: ostiary/v1\nkind: Config\ntargets:\n  prod: { url: '${url}/api' }\n` });
    const args = ['can', '--matrix', '--live', '--format', 'json'];
    const { code, stdout, stderr } = await runInFolder(folder, args, { OSTIARY_TOKEN: scenarioToken });
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const rows: readonly JsonObject[] = JSON.parse(stdout);
    return (connection, group, verb) => {
      const same = rows.filter((row) => row['connection'] === connection && row['verb'] === verb);
      const named = same.find(({ groups }) => group !== undefined && textsIn(groups).includes(group));
      const found = named ?? same.find(({ groups }) => textsIn(groups).length === 0);
      if (found?.['answer'] !== 'yes') return { can: false };
      const approval: JsonObject | undefined = isObject(found['approval']) ? found['approval'] : undefined;
      if (approval === undefined) return { can: true };
      const { groups: reviewers, force, needed } = approval;
      return { can: true, approval: { reviewers: textsIn(reviewers), forcing: textsIn(force), needed: Number(needed) } };
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes two repositories with every runbook that a pattern distinguishes. */
async function addRunbooks({ repositories }: HoopModel, admin: LiveCall): Promise<void> {
  const keys = [...new Set(accessPools.files.map(({ repository }) => repository))];
  for (const key of keys) {
    const files = accessPools.files.filter(({ repository }) => repository === key).map(({ name }) => ({ name }));
    repositories.set(key, { commit: 'c', author: 'a', message: 'm', files });
  }
  const sent = { repositories: keys.map((key) => ({ git_url: `https://${key}` })) };
  expect((await admin('PUT', '/runbooks/configurations', sent)).status).toBe(200);
}
