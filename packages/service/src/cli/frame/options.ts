export * from '../../operations/command/parse.js';
