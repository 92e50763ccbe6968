import { expect, test } from 'vitest';
import { createAnswerBudget, largestAnswers } from '../../../../src/gateway/http/answer-budget.ts';

const tenth = 'x'.repeat(Math.floor(largestAnswers / 10));

test('a budget is shared by lists, and has room again for what is read again', () => {
  const budget = createAnswerBudget();
  const [one, other] = [budget.share(), budget.share()];
  expect([1, 2, 3, 4, 5].map(() => [one.take(tenth), other.take(tenth)])).toEqual(Array.from({ length: 5 }, () => [true, true]));
  expect(other.take(tenth)).toBe(false);
  one.release();
  expect(other.take(tenth)).toBe(true);
});

test('a budget has room for 150,000 connections with four secrets each', () => {
  const secret = Object.fromEntries(['HOST', 'PORT', 'USER', 'PASS'].map((name) => [`envvar:${name}`, '']));
  const connection = {
    id: 'f47ac10b-58cc-4372-a567-0e02b2c3d479',
    name: 'orders-database-production-000001',
    type: 'database',
    subtype: 'postgres',
    agent_id: 'f47ac10b-58cc-4372-a567-0e02b2c3d479',
    command: ['psql', '-v', 'ON_ERROR_STOP=1', '-A', '-F\t', '-P', 'pager=off', '-h', '$HOST', '-U', '$USER', '--port=$PORT', '$DB'],
    secret,
    reviewers: ['dba', 'security'],
    connection_tags: { env: 'prod', team: 'orders' },
    access_mode_runbooks: 'enabled',
    access_mode_exec: 'enabled',
    access_mode_connect: 'enabled',
    guardrail_rules: ['f47ac10b-58cc-4372-a567-0e02b2c3d479'],
  };
  expect(JSON.stringify(connection).length * 150_000).toBeLessThan(largestAnswers);
});
