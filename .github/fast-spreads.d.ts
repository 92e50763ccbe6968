export declare function withSharedClasses(code: string): string;
