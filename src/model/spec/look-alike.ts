// Letters of Cyrillic, Greek, Armenian and Latin extensions, and digits, that look like Latin letters.
const letters: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: 'аαɑᴀ',
    c: 'сϲᴄ',
    d: 'ԁɗđᴅ',
    m: 'мᴍ',
    i: 'іιıӏɩɪl1|',
    j: 'јϳᴊ',
    k: 'кκᴋ',
    n: 'пηոɴ',
    g: 'ɡցɢ',
    h: 'һհ',
    e: 'еεҽᴇ',
    p: 'рρ',
    q: 'ԛզ',
    r: 'гʀ',
    t: 'тτᴛ',
    o: 'оοօσᴏ0',
    s: 'ѕꜱ',
    u: 'υսᴜ',
    v: 'ѵνᴠ',
    w: 'ԝωᴡ',
    x: 'хχ',
    y: 'уγүʏ',
  }).flatMap(([plain, others]) => others.split('').map((letter) => [letter, plain] as const)),
);
const mixedScripts = [/\p{sc=Latin}/u, /\p{sc=Cyrillic}/u, /\p{sc=Greek}/u, /\p{sc=Armenian}/u];

/** Returns the Latin letters that a text looks like. */
export function latinForm(text: string): string {
  return text.replaceAll(/[\p{L}01|]/gu, (letter) => letters.get(letter) ?? letter).replaceAll('rn', 'm');
}

/** Returns whether a word of a text has letters of several scripts. */
export function mixesScripts(text: string): boolean {
  return text.split(/[^\p{L}]+/u).some((word) => mixedScripts.filter((script) => script.test(word)).length > 1);
}
