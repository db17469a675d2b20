// A file of its own, so that it can be loaded after the first page.
export { Menu as default } from '@mantine/core';
