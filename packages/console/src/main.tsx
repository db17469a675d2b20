import './theme/global.css';
import '@mantine/core/styles.layer.css';
import '@mantine/notifications/styles.layer.css';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { watchForSigns } from './api/attention.ts';
import { reactBy } from './api/client.ts';
import { watchForLosses } from './api/connection.ts';
import { queryClient } from './api/query-client.ts';
import { LanguageContext, markDocument, useCurrentLanguage } from './i18n/language.ts';
import { ErrorBoundary } from './parts/states.tsx';
import { router } from './router.tsx';
import { identityQuestion, signInQuestion } from './session/identity-questions.ts';
import { resumeSession } from './session/session.ts';
import { settingKey } from './settings.ts';
import { watchForMissingFiles } from './stale-build.ts';
import { cssVariablesResolver, theme } from './theme/theme.ts';

reactBy({ askForProof: identityQuestion.ask, renewToken: resumeSession, signInAgain: signInQuestion.ask });
markDocument();
watchForSigns(window);
watchForLosses(window);
watchForMissingFiles();

/** The nonce that the service puts into each page. The content security policy refuses style elements without it. */
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';

// Mantine's scroll lock reads the nonce under this name.
Object.assign(globalThis, { __webpack_nonce__: nonce });

const place = document.getElementById('page');
if (!place) throw new Error('The page has no element with the id "page"');
createRoot(place).render(
  <StrictMode>
    <WithLanguage>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariablesResolver}
        defaultColorScheme="auto"
        colorSchemeManager={localStorageColorSchemeManager({ key: settingKey('color-scheme') })}
        getStyleNonce={() => nonce}
      >
        <Notifications position="bottom-right" limit={4} />
        <QueryClientProvider client={queryClient}>
          <ErrorBoundary>
            <RouterProvider router={router} />
          </ErrorBoundary>
        </QueryClientProvider>
      </MantineProvider>
    </WithLanguage>
  </StrictMode>,
);

function WithLanguage({ children }: { readonly children: ReactNode }) {
  return <LanguageContext value={useCurrentLanguage()}>{children}</LanguageContext>;
}
