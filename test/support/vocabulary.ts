/** Words that the vocabulary replaces: in comments, docstrings, names of files and exports, and everything that people read. */
export const replacedWords: RegExp =
  /\b(?:told|tells?|telling|nobody|somebody|hears?|heirs?|doomed|strangers?|bereft|all the same|comes? open|stands? twice|not to be had)\b/i;

/** Words and phrases that the vocabulary replaces in documentation; code may use some of them. */
export const replacedPhrases: RegExp = new RegExp(
  [
    // The actor and the verb come first.
    String.raw`\b(?:stands?|bears?|but for|in any case|so, too|goes no further|keeps its word|is not bothered|that is for a try|is wanted|may stand)\b`,
    // Drift, intent and what is held.
    String.raw`\b(?:(?:changed|tightened|made|clicked together|deleted) by hand|both moved|left so|took back|takes? (?:back|over)|taken (?:back|over))\b`,
    // Actions and objects.
    String.raw`\b(?:comes into being|takes the place|left behind|not ours|as in the manifests|equal to a directory|gateway that is there|wholly applied)\b`,
    String.raw`\b(?:breakers?|footing|slips?|ties|tied|edges?|lacks?|doubles|carries out|carried out|what each cause reaches|which way|who may)\b`,
    // American spelling.
    String.raw`\b(?:licen[c]e|colour|behaviour|organisation|normalis\w+|catalogue|cancelled)\b`,
  ].join('|'),
  'i',
);
