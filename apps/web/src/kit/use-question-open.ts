import { useSyncExternalStore } from 'react'
import { questions } from './confirm.ts'

/** Whether a question is open. Escape then answers it and must not close what is below. */
export const useQuestionOpen = (): boolean => useSyncExternalStore(questions.subscribe, questions.current) !== null
