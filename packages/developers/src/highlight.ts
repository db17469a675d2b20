import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import http from 'highlight.js/lib/languages/http';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import { escapeHtml } from './html.js';

const LANGUAGES = { go, http, java, js: javascript, json, php, python, sh: bash };

highlighter.configure({ classPrefix: 'hl-' });
for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language);

/**
 * Returns code as HTML with highlighting classes. Code in an unregistered language is only escaped. Writes apostrophes
 * as `&#39;`, the only form that `textOf` reads.
 */
export const highlight = (code: string, language: string): string =>
  language in LANGUAGES
    ? highlighter.highlight(code, { language }).value.replaceAll('&#x27;', '&#39;')
    : escapeHtml(code);
