import { sql, type RawBuilder } from 'kysely';

/** An agent that shows no sign of life for so long is offline; the same for every server on one database. */
export const agentTimeoutSeconds = 60;

/** Tells whether an agent that was last seen then is online. */
export function agentStatusAt(now: Date, lastSeen: Date | null): 'online' | 'offline' {
  return lastSeen !== null && lastSeen > aliveSince(now) ? 'online' : 'offline';
}

/** The ids of the agents that are online, as text, for `in`. */
export function onlineAgentIds(now: Date): RawBuilder<unknown> {
  return sql`(select id::text from agents where last_seen > ${aliveSince(now)})`;
}

function aliveSince(now: Date): Date {
  return new Date(now.getTime() - agentTimeoutSeconds * 1000);
}
