import { expect } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import type { CommandResult, HoopProject } from '../support/hoop-project.ts';

/** Requests that may have changed something. */
export function writes({ requests }: CommandResult): readonly string[] {
  return requests.filter((request) => !request.startsWith('GET '));
}

/** What the JSON of one plan says first: headlines with their directions, and the codes of refusals. */
export type PlanSummary = { readonly headlines: readonly string[]; readonly refusals: readonly string[] };

/** Returns the summary of a plan that was printed as JSON. */
export function summaryOf({ stdout }: Pick<CommandResult, 'stdout'>): PlanSummary {
  const [plan] = JSON.parse(stdout).plans;
  return {
    headlines: plan.protection.headlines.map(({ direction = '', text = '' }: Record<string, string>) => `${direction}: ${text}`),
    refusals: plan.refusals.map(({ code }: Record<string, string>) => code),
  };
}

/** Plans and returns the summary. */
export async function planSummary(project: HoopProject): Promise<PlanSummary> {
  return summaryOf(await project.ostiary(['plan', '--format', 'json']));
}

/** Applies, and expects that all went well and that nothing is left to do. */
export async function applyAndExpectInSync(project: HoopProject, env: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
  const applied = await project.ostiary(['apply', '--yes'], env);
  expect([applied.code, applied.stderr]).toEqual([0, expect.any(String)]);
  const again = await project.ostiary(['plan', '--detailed-exitcode'], env);
  expect(again.stdout).toContain('No changes');
  expect(again.code).toBe(0);
  return applied;
}

/** Expects that a plan and an apply are refused for a reason, and that nothing was written. */
export async function expectRefused(
  project: HoopProject,
  code: string,
  exit = 3,
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const before = project.model.dump();
  for (const args of [['plan'], ['apply', '--yes']]) {
    const ended = await project.ostiary(args, env);
    expect(`${ended.stdout}${ended.stderr}`).toContain(code);
    expect([args, ended.code, writes(ended)]).toEqual([args, exit, []]);
  }
  expect(project.model.dump()).toEqual(before);
  return project.ostiary(['plan'], env);
}

/** Lets the gateway refuse every request whose method and path contain a text. */
export function refuse({ model }: Pick<HoopProject, 'model'>, part: string, status = 422, message = 'no'): void {
  model.setFault(({ method, path }) =>
    `${method} ${path}`.includes(part) ? { kind: 'answer', when: 'before', status, message } : undefined,
  );
}

/** An access-request rule that names a connection, as the public gateway takes it. */
export const jitRule: JsonObject = {
  name: 'prod-jit',
  access_type: 'jit',
  connection_names: ['orders-db'],
  reviewers_groups: ['dba'],
  approval_required_groups: [],
  force_approval_groups: [],
  min_approvals: 1,
};

/** A runbook rule that names a connection, as the public gateway takes it. */
export const nightlyRule: JsonObject = {
  name: 'nightly',
  connections: ['orders-db'],
  runbooks: [{ repository: 'github.com/acme/runbooks', name: 'ops/' }],
  user_groups: ['sre'],
};
