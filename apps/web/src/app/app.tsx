import './styles/base.ts'
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { BrowserRouter } from 'react-router'
import { queryClient } from '../api/query.ts'
import { Hosts } from '../kit/hosts.tsx'
import { Pages } from './pages.tsx'
import { theme, variables } from './theme.ts'

const schemes = localStorageColorSchemeManager({ key: 'netlet-color-scheme' })

export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      colorSchemeManager={schemes}
      defaultColorScheme="auto"
      deduplicateInlineStyles
    >
      <QueryClientProvider client={queryClient}>
        <BrowserRouter>
          <Pages />
          <Hosts />
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>
  )
}
