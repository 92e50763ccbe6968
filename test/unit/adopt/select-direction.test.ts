import { expect, test } from 'vitest';
import { selectDirection } from '../../../src/adopt/select-direction.ts';
import type { FieldChange } from '../../../src/model/plan/plan.ts';
import type { PartEffect, ProtectionVerdict } from '../../../src/model/protection/protection.ts';
import { changeOf } from '../protection/protection-fixtures.ts';
import { quietPlan } from '../report/quiet-plan.ts';

const id = 'Connection/orders-db';

function field(name: string, more: Partial<FieldChange> = {}): FieldChange {
  return { path: `/${name}`, before: { value: 1 }, after: { value: 2 }, origin: 'drift', ...more };
}

function effect(name: string, direction: ProtectionVerdict): PartEffect {
  return { by: id, path: `/${name}`, direction };
}

const drift = {
  plan: {
    ...quietPlan(),
    changes: [
      {
        ...changeOf(
          id,
          ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => field(name, name === 'f' ? { held: true } : {})),
        ),
        risks: [],
      },
    ],
  },
  protection: {
    headlines: [],
    connections: [],
    losing: [],
    parts: [effect('a', 'weakens'), effect('b', 'strengthens'), effect('c', 'both'), effect('d', 'unknown'), effect('f', 'weakens')],
  },
};

test.each([
  ['weakens', ['/a']],
  ['strengthens', ['/b', '/f']],
] as const)(
  '%s selects the fields of one object with this effect, held ones as stricter, and reports those that it cannot select',
  (direction, paths) => {
    const { plan, mixed } = selectDirection(drift, direction);
    expect(plan.changes.map(({ fields }) => fields.map(({ path }) => path))).toEqual([paths]);
    expect(mixed.map(({ message }) => message)).toEqual([
      'Connection/orders-db: /c weakens and strengthens protection, so --direction does not accept it',
      'Connection/orders-db: /d cannot be compared, so --direction does not accept it',
    ]);
  },
);
