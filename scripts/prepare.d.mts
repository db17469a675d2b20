export declare const SHARED_SOURCES: Readonly<Record<'console' | 'developers', () => string[]>>;
