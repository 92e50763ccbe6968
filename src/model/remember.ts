/** Remembers what was made of short texts, up to a few thousand: many objects use the same words again and again. */
export function remembered<T>(make: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const made = make(text);
    if (text.length <= longest && known.size < most) known.set(text, made);
    return made;
  };
}

const longest = 60;
const most = 4096;
