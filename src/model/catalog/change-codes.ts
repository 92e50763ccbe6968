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
    cause: 'The gateway became unreachable or unavailable during the apply',
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
  'apply/lease-lost': {
    meaning: 'A change was not started',
    cause:
      'Another apply took over the lease of this one, for example while this process was stopped, or the lease ended and cannot be renewed',
    fix: 'Plan and apply again',
    example: 'not started: another apply took over the lease of this one: runner-2:4711',
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
    example: 'written, but reading it back failed: timeout',
  },
} as const;

/** The messages of the section "Adopting drift". */
export const adoptCodes = {
  'adopt/both-moved': {
    level: 'warning',
    meaning: 'A conflict is not adopted',
    cause: 'The manifests and the gateway both changed since the last apply',
    fix: 'Run `apply` to use the manifest, or edit the manifest',
    example: 'Connection/orders-db: conflict: the manifests and the gateway both changed command; this drift is not accepted',
  },
  'adopt/impossible': {
    level: 'warning',
    meaning: 'A live value is not adopted',
    cause: 'A manifest cannot express the value, or not here',
    fix: 'Edit the manifest, or change the gateway',
    example: 'the manifests cannot accept Connection/orders-db: its name cannot be written in a manifest',
  },
  'adopt/mixed': {
    level: 'warning',
    meaning: '`--direction` does not select a change',
    cause: 'It weakens and strengthens protection at once, or cannot be compared',
    fix: 'Accept it with all drift of its object: `drift --adopt --only KIND/NAME`',
    example: 'Connection/orders-db: /type cannot be compared, so --direction does not accept it',
  },
  'adopt/removed': {
    level: 'warning',
    meaning: 'A deleted object keeps its manifest',
    cause: 'An object was deleted outside Ostiary',
    fix: 'Delete the manifest, or let `apply` create the object again',
    example: 'Connection/orders-db was deleted outside Ostiary; its manifest is kept',
  },
  'adopt/selected': {
    level: 'notice',
    meaning: 'A selector matches a new manifest',
    cause: 'The next apply attaches the rule of the selector to the connection',
    fix: 'Nothing; or add an exception to the selector',
    example: 'the next apply also attaches GuardrailRule/no-drop to orders-db: its selector matches the new manifests',
  },
  'adopt/shared': {
    level: 'notice',
    meaning: 'The edit changes the manifests of another target',
    cause: 'Several targets read the edited files',
    fix: 'Plan the other target; move values for only one target to an overlay',
    example: 'the target staging reads the same files, so its manifests also change: Connection/orders-db',
  },
  'adopt/unsure': {
    meaning: 'The edited manifests would still differ from the gateway, so nothing was edited',
    cause: 'A value cannot be written back as it is live',
    fix: 'Edit the manifests, and report this bug with them if possible',
    example: 'nothing was edited: a plan of the edited manifests would still have changes',
  },
} as const;

/** The messages of the section "Reviews". */
export const reviewCodes = {
  'review/no-effect': {
    meaning: 'The gateway accepted the decision, but changed nothing',
    cause: 'None of your groups reviews this session',
    fix: 'Ask a member of a group that reviews it',
    example:
      'PUT https://gateway.example.com/reviews/7: the gateway accepted the request but changed nothing: none of your groups reviews this session',
  },
  'review/changed': {
    meaning: 'The review changed after Ostiary showed it; nothing was decided',
    cause: 'Another reviewer decided it at the same time',
    fix: 'Run the command again, and read the review before you decide',
    example: 'PUT https://gateway.example.com/reviews/7: the review changed after it was shown',
  },
  'review/other-review': {
    meaning: 'The gateway answered with another review than the one that was asked for',
    cause: 'The ID is that of a session: on some gateways, a requester can choose the session of a review',
    fix: 'Pass the ID that `ostiary get reviews` lists; if the gateway decided another review, reject or revoke that one',
    example: 'GET https://gateway.example.com/reviews/7: the gateway returned another review, 8',
  },
  'review/refused': {
    meaning: 'The gateway rejects the decision',
    cause: 'The review is already decided, or you cannot decide it; the message gives the reason',
    fix: '`ostiary get reviews` shows its state',
    example: 'the review 7 is APPROVED: it is already decided',
  },
  'review/unknown': {
    meaning: 'The review does not exist, or the token cannot see it',
    cause: 'The ID has a typo, or the token is of another group',
    fix: 'Run `ostiary get reviews`',
    example: 'GET https://gateway.example.com/reviews/7: the review does not exist, or the token cannot see it',
  },
} as const;
