declare module '*.yml' {
  /** The text of the file; `build/yaml-texts.js` loads it. */
  const text: string;
  export default text;
}
