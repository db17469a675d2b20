import { appendFileSync } from 'node:fs';
import path from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** The number of characters of an error that are repeated for a failed test. */
const SAID_CHARS = 600;

/**
 * After a failed run, prints for each failed test the command that runs only this test again. Also appends the commands,
 * with the tests' errors, to the file that FAILED_TESTS names, because some runs print more output afterwards.
 */
export function againReporter(): Reporter {
  let root = process.cwd();
  return {
    onInit(vitest) {
      root = vitest.config.root;
    },
    onTestRunEnd(modules) {
      const failures = new Map(modules.flatMap((module) => failuresOf(module, root)));
      if (failures.size === 0) return;
      const lines = [...failures.keys()].map((command) => `   ${command}\n`).join('');
      process.stdout.write(`\n Again, what failed:\n\n${lines}\n`);
      const file = process.env['FAILED_TESTS'];
      if (file === undefined) return;
      appendFileSync(file, [...failures].map(([command, said]) => `   ${command}\n${said}\n`).join(''));
    },
  };
}

/** Returns the commands of the failed tests of a file, each with the errors. */
function failuresOf(module: TestModule, root: string): [command: string, said: string][] {
  const file = `npx vitest run --project ${module.project.name} ${path.relative(root, module.moduleId)}`;
  const failed = [...module.children.allTests('failed')];
  // The whole file failed: it could not be loaded, or a shared hook failed.
  const ofWhole = [module, ...module.children.allSuites()].flatMap((one) => one.errors());
  return [
    ...(ofWhole.length > 0 ? [[file, describe(ofWhole)] as [string, string]] : []),
    ...failed.map((test): [string, string] => [commandOf(test, file), describe(test.result().errors ?? [])]),
  ];
}

const describe = (errors: readonly { readonly message: string; readonly stack?: string }[]): string =>
  errors
    .map(({ message, stack }) => `${message.slice(0, SAID_CHARS)}${/\n +at .+test\/.+/.exec(stack ?? '')?.[0] ?? ''}\n`)
    .join('')
    .replace(/^/gm, '      ');

/**
 * Returns the command that runs this test again. A test with random input says in its error how to repeat the input: by
 * its own command, or by fast-check's seed.
 */
function commandOf(test: TestCase, file: string): string {
  const said = (test.result().errors ?? []).map(({ message }) => message).join('\n');
  const own = /^Again: (.+)$/m.exec(said)?.[1];
  if (own !== undefined) return own;
  const seed = /\{ seed: (-?\d+), path: /.exec(said)?.[1];
  return `${seed === undefined ? '' : `FAST_CHECK_SEED=${seed} `}${file} -t '^${pattern(nameOf(test))}$'`;
}

/** Returns a test's name as vitest builds it: the names of its suites, then its own name. */
function nameOf({ parent, name }: Pick<TestCase, 'parent' | 'name'>): string {
  return parent.type === 'suite' ? `${nameOf(parent)} ${name}` : name;
}

/** Escapes the name for a pattern in single shell quotes. */
function pattern(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/['\n\t]/g, '.');
}
