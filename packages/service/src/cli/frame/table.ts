export * from '../../operations/command/table.js';
