import { find } from './dom.js';

find('#signature-form')?.addEventListener('submit', (event) => event.preventDefault());
