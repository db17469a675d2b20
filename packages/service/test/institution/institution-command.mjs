// The command as the command line has it, from the compiled code, without the commands beside it.
import { Command } from 'commander';
import { addInstitutionCommand } from '../../dist/cli/commands/reference-programs/institution.js';

const perennial = new Command('perennial');
addInstitutionCommand(perennial);
try {
  await perennial.parseAsync(process.argv.slice(2), { from: 'user' });
} catch (error) {
  process.stderr.write(`perennial: ${error.message}\n`);
  process.exitCode = 1;
}
