import { newest } from './consumers.ts';
import { testAnswers } from './answers.ts';

testAnswers(newest);
