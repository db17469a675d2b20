import path from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Ends the output of a run that failed with one command for each test that did: it runs that test again, and no other. */
export function againReporter(): Reporter {
  let root = process.cwd();
  return {
    onInit(vitest) {
      root = vitest.config.root;
    },
    onTestRunEnd(modules) {
      const commands = new Set(modules.flatMap((module) => commandsOf(module, root)));
      if (commands.size === 0) return;
      process.stdout.write(`\n Again, what failed:\n\n${[...commands].map((command) => `   ${command}\n`).join('')}\n`);
    },
  };
}

function commandsOf(module: TestModule, root: string): string[] {
  const file = `npx vitest run --project ${module.project.name} ${path.relative(root, module.moduleId)}`;
  const failed = [...module.children.allTests('failed')];
  // It could not be loaded, or what its tests share failed before or after them.
  const isWhole = [module, ...module.children.allSuites()].some((one) => one.errors().length > 0);
  return [...(isWhole ? [file] : []), ...failed.map((test) => commandOf(test, file))];
}

/** A test that draws its input says how to draw the same again: by a command of its own, or as fast-check does. */
function commandOf(test: TestCase, file: string): string {
  const said = (test.result().errors ?? []).map(({ message }) => message).join('\n');
  const own = /^Again: (.+)$/m.exec(said)?.[1];
  if (own !== undefined) return own;
  const seed = /\{ seed: (-?\d+), path: /.exec(said)?.[1];
  return `${seed === undefined ? '' : `FAST_CHECK_SEED=${seed} `}${file} -t '^${pattern(nameOf(test))}$'`;
}

/** As vitest knows it: with the names of those around it. */
function nameOf({ parent, name }: Pick<TestCase, 'parent' | 'name'>): string {
  return parent.type === 'suite' ? `${nameOf(parent)} ${name}` : name;
}

/** The name and nothing else, between single quotes of a shell. */
function pattern(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/['\n\t]/g, '.');
}
