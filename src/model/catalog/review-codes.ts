/** The messages of the section "Reviews". */
export const reviewCodes = {
  'review/no-effect': {
    meaning: 'The gateway accepted the decision, but changed nothing',
    cause: 'None of your groups reviews this session',
    fix: 'Ask a member of a group that reviews it',
    example:
      'PUT https://gateway.example.com/reviews/7: the gateway accepted the request but changed nothing: none of your groups reviews this session',
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
