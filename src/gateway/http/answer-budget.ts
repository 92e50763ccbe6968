/** What the answers to one command's read of a gateway may have together: a share for each list. */
export type AnswerBudget = { readonly share: () => AnswerShare };

export type AnswerShare = {
  /** Takes the characters of an answer; returns whether the budget has them. */
  readonly take: (text: string) => boolean;
  /** Returns to the budget what was taken: the answers are no longer used. */
  readonly release: () => void;
};

/** The characters that all lists that are read together may have: those of about 150,000 connections with four secrets each. */
export const largestAnswers: number = 128 * 1024 * 1024;

/** Makes a budget of `largestAnswers`. */
export function createAnswerBudget(): AnswerBudget {
  let used = 0;
  return {
    share() {
      let own = 0;
      return {
        take({ length }) {
          own += length;
          used += length;
          return used <= largestAnswers;
        },
        release() {
          used -= own;
          own = 0;
        },
      };
    },
  };
}
