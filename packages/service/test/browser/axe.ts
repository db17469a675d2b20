import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface Inspection {
  /** Selectors of elements to hide during the check, which saves time. */
  readonly without?: readonly string[];
}

export interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

/**
 * A long run checks the contrast of every text. A short run checks at most two texts of the same style on a page, and
 * skips a style that was already checked in the same context, because contrast takes four fifths of axe's time.
 */
const isLong = process.env['LONG_RUNS'] === 'on';
const ALIKE_ON_A_PAGE = isLong ? 1_000_000 : 2;

/** Hashes of the text styles that were checked in a context, except styles for which axe had no result. */
const judgedBefore = new WeakMap<BrowserContext, Set<string>>();

export async function runAxe(page: Page, { without = [] }: Inspection = {}): Promise<readonly Violation[]> {
  // Injects axe through the debugger, because the page's policy refuses a script element.
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(AXE);
  const judged = judgedBefore.get(page.context()) ?? new Set();
  judgedBefore.set(page.context(), judged);
  const { violations, marks } = await page.evaluate<{ violations: Violation[]; marks: string[] }>(`(async () => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(${JSON.stringify(`:is(${without.join()}) { display: none !important }`)});
    const former = [...document.adoptedStyleSheets];
    document.adoptedStyleSheets = [...former, sheet];
    const texts = (${CHOOSE_TEXTS})(new Set(${JSON.stringify([...judged])}), ${ALIKE_ON_A_PAGE});
    for (const text of texts.keys()) text.setAttribute('data-judged', '');
    axe.configure({ rules: [{ id: 'color-contrast', selector: '[data-judged]' }] });
    const { violations, incomplete } =
      await axe.run({ resultTypes: ['violations', 'incomplete'], elementRef: true }).finally(() => {
        for (const text of texts.keys()) text.removeAttribute('data-judged');
        document.adoptedStyleSheets = former;
      });
    for (const { id, nodes } of incomplete)
      if (id === 'color-contrast') for (const { element } of nodes) texts.delete(element);
    return {
      violations: violations.map(({ id, impact, nodes }) =>
        ({ id, impact, nodes: nodes.map(({ target, html, failureSummary }) => ({ target: [...target, html], failureSummary })) })),
      marks: [...texts.values()],
    };
  })()`);
  if (!isLong) for (const mark of marks) judged.add(mark);
  return violations;
}

/**
 * Runs in the page: returns the elements to check, with their marks. A mark is a hash of text style, background and
 * ancestors.
 */
const CHOOSE_TEXTS = `(judged, most) => {
  const grounds = new Map();
  const groundOf = (element) => {
    if (element === null) return '';
    if (!grounds.has(element)) {
      const { backgroundColor, backgroundImage, opacity, filter } = getComputedStyle(element);
      const own = [element.localName, element.getAttribute('class'), backgroundColor, backgroundImage, opacity, filter];
      grounds.set(element, own.join() + '<' + groundOf(element.parentElement));
    }
    return grounds.get(element);
  };
  const markOf = (element) => {
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
    const text = [color, fontSize, fontWeight, textShadow, element.type, groundOf(element)].join();
    let [a, b] = [7, 11];
    for (let at = 0; at < text.length; at += 1) {
      a = (Math.imul(a, 31) + text.charCodeAt(at)) | 0;
      b = (Math.imul(b, 37) ^ text.charCodeAt(at)) | 0;
    }
    return a.toString(36) + b.toString(36);
  };
  const elements = new Set(document.querySelectorAll('input, select, textarea'));
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (walker.currentNode.data.trim() !== '') elements.add(walker.currentNode.parentElement);
  const [chosen, alike] = [new Map(), new Map()];
  for (const element of elements) {
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    const mark = markOf(element);
    const before = alike.get(mark) ?? 0;
    if (judged.has(mark) || before >= most) continue;
    alike.set(mark, before + 1);
    chosen.set(element, mark);
  }
  return chosen;
}`;
