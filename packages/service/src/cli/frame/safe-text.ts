export * from '../../operations/command/safe-text.js';
