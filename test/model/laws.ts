/** The laws that every plan keeps. */
export const laws = [
  'headline too mild',
  'risk below headline',
  'headline without a cause',
  'false surely lost',
  'false surely gained',
  'wrongly held',
  'unknown without need',
  'protection not reached',
  'not ours to write',
  'invisible change',
  'claims to match',
  'accepted loss unnamed',
  'inherited credential unnamed',
  'approval misjudged',
  'refusal missing',
  'exposed between writes',
  'end state differs',
] as const;

export type Law = (typeof laws)[number];

/** A violation of a law. */
export type Finding = { readonly law: Law; readonly connection: string; readonly why: string };
