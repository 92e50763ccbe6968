/** The messages of the section "Applying". */
export const applyCodes = {
  'apply/declined': {
    level: 'refusal',
    meaning: 'You did not confirm the apply',
    cause: 'The answer to the question was no',
    fix: 'Run it again and confirm, or pass `--yes`',
    example: 'canceled: nothing was applied',
  },
  'apply/gateway-lost': {
    meaning: 'A change was not started',
    cause: 'The gateway became unreachable during the apply',
    fix: 'Plan and apply again',
    example: 'not started: GET https://gateway.example.com/connections: connection refused',
  },
  'apply/gone': {
    meaning: 'The object no longer exists on the gateway',
    cause: 'It was deleted since the plan',
    fix: 'Plan again',
    example: 'it no longer exists on the gateway',
  },
  'apply/interrupted': {
    meaning: 'A change was not started',
    cause: 'The run was interrupted',
    fix: 'Plan and apply again',
    example: 'not started: interrupted',
  },
  'apply/moved': {
    meaning: 'The object changed since the plan',
    cause: 'It was changed or created outside Ostiary; for a deletion, its attachments may have changed',
    fix: 'Plan again',
    example: 'it was created outside Ostiary since the plan and differs from it',
  },
  'apply/need-failed': {
    meaning: 'A change was skipped',
    cause: 'A change that it depends on failed',
    fix: 'Resolve that error, then plan and apply again',
    example: 'it depends on Connection/orders-db: the gateway failed',
  },
  'apply/not-kept': {
    meaning: 'The gateway accepted the write, but returns another value',
    cause: 'The gateway may set the field itself',
    fix: 'Plan again',
    example: 'the gateway accepted the write but does not return it: command',
  },
  'apply/unverified': {
    meaning: 'A write succeeded, but could not be read back',
    cause: 'The gateway did not answer after the write',
    fix: 'Plan again',
    example: 'written, but it cannot be read back: timeout',
  },
} as const;
