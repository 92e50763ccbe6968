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
    // Plans, in sentences of their own.
    String.raw`\b(?:place is taken|closes connect|may force|must state|cannot be told|plays the main job|clicked together|lists? not whole|wholly)\b`,
    String.raw`\b(?:objects to undo|come into being|takes a place|closed as the former|only reads plans|is what \S+ was|it changes something)\b`,
    // Errors and help.
    String.raw`\b(?:can answer|said yes|the least is|is no http|cannot be answered|do(?:es)? not do as|wrong in its types|engines that go back|to get called)\b`,
    String.raw`\b(?:as the manifests want|the result alone|none for none|unless told|gateway speaks|ask who it was|a group that may|upward)\b`,
    // Pages.
    String.raw`\b(?:from so many|that nobody saw|wanted empty|doubled keys|without measure|where there is a drift|do as they ask|whatever permission)\b`,
    String.raw`\b(?:a good pace|of which the gateway makes|does it, after asking)\b`,
    String.raw`which target\?`,
    // American spelling.
    String.raw`\b(?:licen[c]e|colour|behaviour|organisations?|normalis\w+|catalogue|cancelled)\b`,
  ].join('|'),
  'i',
);
