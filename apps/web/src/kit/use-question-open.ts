import { useSyncExternalStore } from 'react'
import { questions } from './confirm.ts'

/** Whether a question is open: Escape answers that, and closes nothing below it. */
export const useQuestionOpen = (): boolean => useSyncExternalStore(questions.subscribe, questions.current) !== null
