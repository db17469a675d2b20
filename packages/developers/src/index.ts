import { endpoints } from '@perennial/wire';
import { marked } from 'marked';

/** The summaries of the endpoints, as a list. */
export const renderSummaries = () => marked.parse(endpoints.map(({ summary }) => `- ${summary}`).join('\n'));
