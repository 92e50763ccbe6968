import type { JsonObject } from '../../src/model/json.ts';

/** The specs of many connections by name: teams that use their own, on-call that uses production after an approval, three tags. */
export function largeAccess(connections: number, teams: number): readonly (readonly [name: string, spec: JsonObject])[] {
  return Array.from({ length: connections }, (_, index) => {
    const team = `team-${index % teams}`;
    const env = ['prod', 'test', 'dev'][Math.floor(index / teams) % 3] ?? '';
    return [
      `db-${index}`,
      {
        type: 'database',
        subtype: 'postgres',
        agent_id: 'main',
        access_mode_connect: 'enabled',
        access_mode_exec: 'enabled',
        access_mode_runbooks: 'disabled',
        access_schema: 'enabled',
        connection_tags: { env, team, tier: index % 2 === 0 ? 'plain' : 'pci' },
        access_groups: [team, env === 'prod' ? 'sre' : 'contractors'],
        ...(env === 'prod' ? { reviewers: ['dba', 'security'], min_review_approvals: 2, access_max_duration: 3600 } : {}),
      },
    ];
  });
}
