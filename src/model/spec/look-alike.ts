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

/** Returns a text as it is read: without accents and invisible characters, in small letters. The fillers of Hangul and the blank Braille pattern look like spaces. */
export function visibleForm(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/[\u115f\u1160]/g, ' ')
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}]/gu, '')
    .replaceAll(/[\p{Z}\u2800]+/gu, ' ')
    .trim()
    .toLowerCase();
}

/** Returns the Latin letters that a visible form looks like. */
export function latinForm(visible: string): string {
  return visible.replaceAll(/[\p{L}01|]/gu, (letter) => letters.get(letter) ?? letter).replaceAll('rn', 'm');
}

/** Returns whether a word of a text has letters of several scripts. */
export function mixesScripts(text: string): boolean {
  return text.split(/[^\p{L}]+/u).some((word) => mixedScripts.filter((script) => script.test(word)).length > 1);
}
